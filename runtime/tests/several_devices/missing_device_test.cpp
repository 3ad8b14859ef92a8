// Tests the errors for devices that do not exist, and for plugins without devices.
#include <oneflow/oneflow.h>

#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

const std::string kFound = "cpu:0, cpu:1, cpu:2, cpu:3, far:0, far:1";
const std::string kPlugin = PLUGIN_DIR "/accel.so";

// Runs `body` in a process in which the accelerator is faulty from the start.
template <class Body>
void with_fault(const char* fault, Body&& body) {
  setenv("ACCEL_FAULT", fault, 1);
  in_its_own_process(body);
  unsetenv("ACCEL_FAULT");
}

Failure missing(const std::string& name, const std::string& reason) {
  return {OF_DEVICE_ERROR, "there is no device '" + name + "'; there are " + kFound + reason};
}

std::string text_of_missing(const char* name) {
  return failure_of([&] { parse_device(name); }).text;
}

void expect_rejected(const std::string& reason) {
  ASSERT_EQ(of_rejected_plugin_count(), 1u);
  const char *path = nullptr, *why = nullptr;
  ASSERT_EQ(of_rejected_plugin_at(0, &path, &why), OF_OK);
  EXPECT_EQ(path, kPlugin);
  EXPECT_EQ(why, reason);
  EXPECT_EQ(of_rejected_plugin_at(1, &path, &why), OF_INDEX_OUT_OF_RANGE);

  const std::string text = text_of_missing("accel:1");
  EXPECT_EQ(text.rfind(
                missing("accel:1", "\n" + reason + "\nplugins are looked for in ONEFLOW_DEVICE_PATH (set to ").text, 0),
            0u)
      << text;
  EXPECT_EQ(failure_of([] { parse_device("cpu:4"); }), missing("cpu:4", ""));  // the type exists
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, far());             // other devices work
  EXPECT_EQ(values(*mul(x, x)), (Values{1, 4}));
}

TEST(MissingDeviceTest, NoHardware) {
  with_fault("no_devices", [] {
    expect_rejected("the device plugin " + kPlugin + " has no devices: no accelerator was found; plug one in");
  });
}

TEST(MissingDeviceTest, AnotherApiVersion) {
  with_fault("newer_version", [] {
    expect_rejected("cannot use the device plugin " + kPlugin +
                    ": it has plugin API version 3, this runtime accepts 2; install both in the same version");
  });
}

TEST(MissingDeviceTest, CrashDuringTheProbe) {
  with_fault("crashes_on_info",
             [] { expect_rejected("the device plugin " + kPlugin + " ended its process with signal 6"); });
}

std::string notes(of_device device) {
  of_device_properties properties{};
  properties.struct_size = sizeof(properties);
  EXPECT_EQ(of_device_get_properties(device, &properties), OF_OK);
  return properties.notes;
}

TEST(MissingDeviceTest, ThereIsNothingToNoteAboutAPluginThatWasProbed) { EXPECT_EQ(notes(accel(1)), ""); }

TEST(MissingDeviceTest, DevicesOfAPluginThatWasNotProbedSaySo) {
  const std::string program = std::getenv("ONEFLOW_PROBE");
  setenv("ONEFLOW_PROBE", "/nowhere/probe", 1);
  in_its_own_process([] {
    EXPECT_EQ(notes(accel(1)), "the device plugin " + kPlugin +
                                   " was not probed before it was loaded: cannot run /nowhere/probe: No such file or "
                                   "directory");
    EXPECT_EQ(notes(cpu()), "");
    EXPECT_EQ(of_rejected_plugin_count(), 0u);
  });
  setenv("ONEFLOW_PROBE", program.c_str(), 1);
}

TEST(MissingDeviceTest, NoRejectedPlugins) {
  EXPECT_EQ(of_rejected_plugin_count(), 0u);
  EXPECT_EQ(text_of_missing("accel:2"), "there is no device 'accel:2'; there are " + kFound + ", accel:0, accel:1");
  EXPECT_NE(text_of_missing("abacus").find("\nplugins are looked for in ONEFLOW_DEVICE_PATH (set to "),
            std::string::npos);
}

// The devices that were discovered at the start stay available.
TEST(MissingDeviceTest, TheEnvironmentMayChangeLater) {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, accel());
  const std::string before = std::getenv("ONEFLOW_DEVICE_PATH");
  unsetenv("ONEFLOW_DEVICE_PATH");
  EXPECT_EQ(values(*mul(x, x)), (Values{1, 4}));
  EXPECT_EQ(device_name(parse_device("accel:1")), "accel:1");
  // The text names the search path at the time of the discovery.
  EXPECT_NE(text_of_missing("abacus").find("ONEFLOW_DEVICE_PATH (set to " + before + ")"), std::string::npos);
  setenv("ONEFLOW_DEVICE_PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace oneflow
