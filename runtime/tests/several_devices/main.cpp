// Runs the tests with several devices: four CPU devices, and the test plugins, which are discovered like a user's
// plugins.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int count, char** arguments) {
  setenv("ONEFLOW_CPU_DEVICES", "4", 1);
  setenv("ONEFLOW_DEVICE_PATH", PLUGIN_DIR "/far.so:" PLUGIN_DIR "/accel.so", 1);
  setenv("ONEFLOW_PROBE", PROBE_PROGRAM, 0);
  testing::InitGoogleTest(&count, arguments);
  // Death tests start the program again, because a forked process would not have the threads of the devices.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  return RUN_ALL_TESTS();
}
