// The tests of programs with several devices: four CPU devices, and the test plugins, found as a user's plugins are.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int count, char** arguments) {
  setenv("ONEFLOW_CPU_DEVICES", "4", 1);
  setenv("ONEFLOW_DEVICE_PATH", PLUGIN_DIR "/far.so:" PLUGIN_DIR "/accel.so", 1);
  testing::InitGoogleTest(&count, arguments);
  // Its death tests start the program anew: a fork would have a device's threads missing.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  return RUN_ALL_TESTS();
}
