#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/plugin_loading.h"
#include "tensor/create.h"
#include "tensor/defaults.h"
#include "tensor/transfer.h"
#include "test_tensors.h"

namespace oneflow {
namespace {

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

TEST(PluginTest, FailuresNamePathAndReason) {
  const auto expect = [](const std::string& name, const std::string& text) {
    EXPECT_EQ(failure_to_load(plugin_path(name)), text + "") << name;
  };
  const auto used = [](const std::string& name) { return "cannot use the device plugin " + plugin_path(name) + ": "; };
  expect("no_symbol",
         "cannot load the device plugin " + plugin_path("no_symbol") + ": it does not export oneflow_device_plugin");
  expect("newer_version", used("newer_version") + "it has plugin API version 2, this runtime has 1");
  expect("short_table", used("short_table") + "its table has 16 bytes, at least " +
                            std::to_string(offsetof(of_device_table, create_stream)) + " are needed");
  expect("missing_hook", used("missing_hook") + "its table lacks the hook count");
  expect("bad_name", used("bad_name") + "its name must be a word of lower-case letters, digits and underscores");
  expect("refuses", "the device plugin " + plugin_path("refuses") + " refused: the driver is too old");
  EXPECT_NE(failure_to_load("/nowhere/plugin.so").find("/nowhere/plugin.so"), std::string::npos);
  EXPECT_NE(failure_to_load("").find("cannot load the device plugin : ./"), std::string::npos);
  EXPECT_NE(failure_to_load("libc.so.6").find("./libc.so.6: cannot open"), std::string::npos);
  expect("negative_count", used("negative_count") + "it says that it has -1 devices");
  expect("absurd_count", used("absurd_count") + "it says that it has 1048576 devices");
  expect("half_a_stream", used("half_a_stream") + "its table lacks the hook destroy_stream");
}

// Loads a plugin that is found to be wrong only later.
of_device load(const std::string& name) {
  static std::set<std::string> loaded;
  if (loaded.insert(name).second) load_device_plugin(plugin_path(name));
  return parse_device(name);
}

TEST(PluginTest, ANameWithoutEndIsCut) {
  of_device_properties properties{};
  properties.struct_size = sizeof(properties);
  ASSERT_EQ(of_device_get_properties(load("endless_name"), &properties), OF_OK);
  EXPECT_EQ(std::string(properties.name), std::string(127, 'x'));
}

TEST(PluginTest, NoMemoryIsNoMemoryWhateverTheStatus) {
  for (const int64_t size : {1, 1 << 20}) {
    try {
      Tensor::allocate(Shape{size}, OF_FLOAT32, load("no_memory_behind"));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), OF_OUT_OF_MEMORY);
    }
  }
}

TEST(PluginTest, AFailureWithoutReasonTakesNoOldText) {
  set_last_error(OF_SHAPE_ERROR, "of an earlier call");
  try {
    make_tensor({2}, {1, 2}, OF_FLOAT32, load("no_reason"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_DEVICE_ERROR);  // the plugin's is no status at all
    EXPECT_EQ(error.text(), "the device gave no reason");
  }
}

TEST(PluginTest, AnUnknownDeviceListsTheOthers) {
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

// A plugin that is found rather than asked for must not take the process with it.
TEST(PluginTest, DiscoveryProbesInAChild) {
  std::string reason;
  EXPECT_FALSE(probe_plugin(plugin_path("crashes"), &reason));
  EXPECT_EQ(reason, "the device plugin " + plugin_path("crashes") + " ended its process with signal 6");
  EXPECT_FALSE(probe_plugin(plugin_path("crashes_on_info"), &reason));
  EXPECT_EQ(reason, "the device plugin " + plugin_path("crashes_on_info") + " ended its process with signal 6");
  EXPECT_FALSE(probe_plugin(plugin_path("exits"), &reason));
  EXPECT_EQ(reason, "the device plugin " + plugin_path("exits") + " ended its process");
  EXPECT_FALSE(probe_plugin(plugin_path("refuses"), &reason));
  EXPECT_EQ(reason, "the device plugin " + plugin_path("refuses") + " refused: the driver is too old");
  EXPECT_TRUE(probe_plugin(plugin_path("far"), &reason));

  // Nor must it matter what the program does with its children.
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_TRUE(probe_plugin(plugin_path("far"), &reason));
  EXPECT_FALSE(probe_plugin(plugin_path("crashes"), &reason));
  std::signal(SIGCHLD, before);
}

TEST(PluginTest, DiscoveryListsFilesAndFolders) {
  const std::string paths = plugin_path("far") + "::" + PLUGIN_DIR;
  setenv("ONEFLOW_DEVICE_PATH", paths.c_str(), 1);
  const std::vector<std::string> found = discover_plugins();
  unsetenv("ONEFLOW_DEVICE_PATH");
  ASSERT_EQ(found.size(), 17u);
  EXPECT_EQ(found[0], plugin_path("far"));
  EXPECT_EQ(found[1], plugin_path("absurd_count"));
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

TEST_F(FarDeviceTest, BytesTravelBetweenAnyTwoDevices) {
  const of_device devices[] = {default_device(), far_device(0), far_device(1)};
  for (const of_device from : devices)
    for (const of_device to : devices) {
      const TensorRef source = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, from);
      const TensorRef there = copy_to_device(*source, to);
      EXPECT_EQ(values(*there), (std::vector<double>{1, 2, 3, 4, 5, 6})) << device_name(from) << device_name(to);
    }
}

TEST_F(FarDeviceTest, StridesAreWalkedOnTheHost) {
  const TensorRef matrix = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_INT16, far_device());
  const TensorRef turned = Tensor::view(*matrix, Shape{3, 2}, Shape{-1, 3}, 2);
  EXPECT_EQ(values(*turned), (std::vector<double>{3, 6, 2, 5, 1, 4}));
  EXPECT_EQ(values(*copy_to_device(*turned, far_device(1))), (std::vector<double>{3, 6, 2, 5, 1, 4}));
}

// What is not shared is host memory, wherever the tensor goes.
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

TEST_F(FarDeviceTest, OutOfItsMemoryIsOutOfMemory) {
  try {
    Tensor::allocate(Shape{int64_t{1} << 40}, OF_FLOAT32, far_device());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_OUT_OF_MEMORY);
  }
}

}  // namespace
}  // namespace oneflow
