#include <dlfcn.h>
#include <gtest/gtest.h>
#include <oneflow/oneflow.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/plugin_loading.h"
#include "device/plugin_probe.h"
#include "tensor/create.h"
#include "tensor/defaults.h"
#include "tensor/transfer.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

// Returns the path of a shared library that is not a plugin: the one that defines dladdr().
std::string some_library() {
  Dl_info info{};
  EXPECT_TRUE(dladdr(reinterpret_cast<void*>(&dladdr), &info));
  return info.dli_fname;
}

std::string plugin_path(const std::string& name) { return std::string(PLUGIN_DIR) + "/" + name + ".so"; }

std::string failure_to_load(const std::string& path) {
  try {
    load_device_plugin(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_DEVICE_ERROR);
    return error.text();
  }
  return "no failure";
}

// Makes the test accelerator faulty from the start, as ACCEL_FAULT says.
class Fault {
 public:
  explicit Fault(const char* name) { setenv("ACCEL_FAULT", name, 1); }
  ~Fault() { unsetenv("ACCEL_FAULT"); }
};

TEST(PluginTest, ErrorsGivePathAndReason) {
  const std::string path = plugin_path("accel");
  const auto expect = [&](const char* name, const std::string& text) {
    const Fault fault(name);
    EXPECT_EQ(failure_to_load(path), text) << name;
  };
  const std::string used = "cannot use the device plugin " + path + ": ";
  const auto version = [&](int offered) {
    return format_text("%sit has plugin API version %d, this runtime accepts 2; install both in the same version",
                       used.c_str(), offered);
  };
  expect("older_version", version(1));
  expect("newer_version", version(3));
  expect("other_release", used + "it belongs to version 0.0.9 of the runtime, and this is version " + of_version() +
                              "; install both in the same version");
  expect("short_table", used + "its table has 16 bytes, at least " +
                            std::to_string(offsetof(of_device_table, create_stream)) + " are needed");
  expect("missing_hook", used + "its table lacks the hook count");
  expect("half_a_stream", used + "its table lacks the hook synchronize");
  expect("bad_name", used + "its name must be a word of lower-case letters, digits and underscores");
  expect("refuses", "the device plugin " + path + " refused: the driver is too old");
  expect("negative_count", used + "it says that it has -1 devices");
  expect("absurd_count", used + "it says that it has 1048576 devices");

  EXPECT_EQ(failure_to_load(some_library()),
            "cannot load the device plugin " + some_library() + ": it does not export oneflow_device_plugin");
  EXPECT_NE(failure_to_load("/nowhere/plugin.so").find("/nowhere/plugin.so"), std::string::npos);
  EXPECT_NE(failure_to_load("").find("cannot load the device plugin : ./"), std::string::npos);
  EXPECT_NE(failure_to_load("libc.so.6").find("./libc.so.6: cannot open"), std::string::npos);
}

TEST(PluginTest, TheErrorForAnUnknownDeviceListsTheDevices) {
  try {
    parse_device("abacus:1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_DEVICE_ERROR);
    EXPECT_EQ(error.text().rfind("there is no device 'abacus:1'; there ", 0), 0u) << error.text();
    EXPECT_NE(error.text().find(device_name(all_devices().front())), std::string::npos);
  }
  EXPECT_THROW(parse_device(""), Error);
  EXPECT_THROW(parse_device("far:"), Error);
  EXPECT_THROW(parse_device("far:0x"), Error);
  EXPECT_THROW(parse_device("far:99999999999"), Error);
  EXPECT_THROW(get_device({77, 0}), Error);
  EXPECT_THROW(get_device({-1, -1}), Error);
}

// Sets the program that probes plugins.
class ProbeProgram {
 public:
  explicit ProbeProgram(const char* path) { setenv("ONEFLOW_PROBE", path, 1); }
  ~ProbeProgram() { unsetenv("ONEFLOW_PROBE"); }
};

// A plugin that the user has not requested must not end the process.
TEST(PluginTest, DiscoveryProbesInAChildProcess) {
  const ProbeProgram program(PROBE_PROGRAM);
  const std::string path = plugin_path("accel");
  const auto expect = [&](const char* name, const std::string& text, double seconds = 30) {
    const Fault fault(name);
    const Probe probe = probe_plugin(path, seconds);
    EXPECT_FALSE(probe.is_usable) << name;
    EXPECT_EQ(probe.text, text);
  };
  const auto expect_usable = [&] {
    const Probe probe = probe_plugin(path);
    EXPECT_TRUE(probe.is_usable);
    EXPECT_EQ(probe.text, "");
  };
  expect("crashes", "the device plugin " + path + " ended its process with signal 6");
  expect("crashes_on_info", "the device plugin " + path + " ended its process with signal 6");
  expect("exits", "the device plugin " + path + " ended its process");
  expect("refuses", "the device plugin " + path + " refused: the driver is too old");
  expect("older_version",
         "cannot use the device plugin " + path +
             ": it has plugin API version 1, this runtime accepts 2; install both in the same version");
  expect("hangs", "the device plugin " + path + " did not answer within 0.1 seconds", 0.1);
  expect_usable();

  // The result does not depend on how the program handles SIGCHLD.
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  expect_usable();
  expect("crashes", "the device plugin " + path + " ended its process");
  std::signal(SIGCHLD, before);
}

TEST(PluginTest, APluginThatCannotBeProbedIsUsable) {
  const std::string path = plugin_path("accel");
  for (const auto& [program, error] : {std::pair<const char*, const char*>{"/nowhere", "No such file or directory"},
                                       {PLUGIN_DIR, "Permission denied"}}) {
    const ProbeProgram missing(program);
    const Probe probe = probe_plugin(path);
    EXPECT_TRUE(probe.is_usable);
    EXPECT_EQ(probe.text, format_text("the device plugin %s was not probed before it was loaded: cannot run %s: %s",
                                      path.c_str(), program, error));
  }
}

TEST(PluginTest, DiscoveryListsFilesAndFolders) {
  const std::string paths =
      plugin_path("far") + "::" + PLUGIN_DIR + ":/nowhere.so:/nowhere.so:" + PLUGIN_DIR + "/./far.so";
  setenv("ONEFLOW_DEVICE_PATH", paths.c_str(), 1);
  const std::vector<std::string> found = discover_plugins();
  unsetenv("ONEFLOW_DEVICE_PATH");
  EXPECT_EQ(found, (std::vector<std::string>{plugin_path("far"), plugin_path("accel"), "/nowhere.so", "/nowhere.so"}));
}

TEST(PluginTest, DiscoverySearchesAddedPathsLast) {
  setenv("ONEFLOW_DEVICE_PATH", plugin_path("far").c_str(), 1);
  const std::vector<std::string> found = discover_plugins({PLUGIN_DIR, "/elsewhere"});
  const std::string description = describe_search_path({PLUGIN_DIR, "/elsewhere"});
  unsetenv("ONEFLOW_DEVICE_PATH");
  EXPECT_EQ(found, (std::vector<std::string>{plugin_path("far"), plugin_path("accel"), "/elsewhere"}));
  EXPECT_TRUE(description.ends_with(std::string(", and in ") + PLUGIN_DIR + ", and in /elsewhere")) << description;
}

class FarDeviceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { far_device(); }
};

TEST_F(FarDeviceTest, LoadsOnce) {
  EXPECT_EQ(device_name(parse_device("far:1")), "far:1");
  EXPECT_EQ(failure_to_load(plugin_path("far")),
            "cannot use the device plugin " + plugin_path("far") + ": there already is a device type 'far'");
}

TEST_F(FarDeviceTest, CopiesBetweenAnyTwoDevices) {
  const of_device devices[] = {default_device(), far_device(0), far_device(1)};
  for (const of_device from : devices)
    for (const of_device to : devices) {
      const TensorRef source = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, from);
      const TensorRef there = copy_to_device(*source, to);
      EXPECT_EQ(values(*there), (std::vector<double>{1, 2, 3, 4, 5, 6})) << device_name(from) << device_name(to);
    }
}

TEST_F(FarDeviceTest, StridedTensorsAreCopiedThroughTheHost) {
  const TensorRef matrix = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_INT16, far_device());
  const TensorRef transposed = Tensor::view(*matrix, Shape{3, 2}, Shape{-1, 3}, 2);
  EXPECT_EQ(values(*transposed), (std::vector<double>{3, 6, 2, 5, 1, 4}));
  EXPECT_EQ(values(*copy_to_device(*transposed, far_device(1))), (std::vector<double>{3, 6, 2, 5, 1, 4}));
}

// Without a deleter, the source is host memory, also for a tensor on another device.
TEST_F(FarDeviceTest, AStridedSourceIsReadOnTheHost) {
  double elements[] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {3, 2}, strides[] = {-1, 3};
  of_tensor_source source{};
  source.dtype = OF_FLOAT64;
  source.device = far_device();
  source.rank = 2;
  source.sizes = sizes;
  source.strides = strides;
  source.data = elements;
  source.bytes = sizeof(elements);
  source.offset = 2;
  const TensorRef tensor = create_tensor(source);
  EXPECT_TRUE(tensor->device() == far_device());
  EXPECT_TRUE(tensor->is_contiguous());
  EXPECT_EQ(values(*tensor), (std::vector<double>{3, 6, 2, 5, 1, 4}));
}

TEST_F(FarDeviceTest, FillsAndClones) {
  const TensorRef tensor = make_tensor({4}, {1, 2, 3, 4}, OF_UINT8, far_device());
  const TensorRef clone = lazy_clone(*tensor);
  fill_bytes(far_device(), tensor->mutable_data(), 7, 4);
  EXPECT_EQ(values(*tensor), (std::vector<double>{7, 7, 7, 7}));
  EXPECT_EQ(values(*clone), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(item(*Tensor::view(*clone, {}, {}, 2)).as.integer, 3);
}

TEST_F(FarDeviceTest, TooLargeAllocationsAreOutOfMemory) {
  try {
    Tensor::allocate(Shape{int64_t{1} << 40}, OF_FLOAT32, far_device());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_OUT_OF_MEMORY);
  }
}

}  // namespace
}  // namespace oneflow
