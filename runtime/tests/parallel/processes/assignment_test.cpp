#include "parallel/processes/assignment.h"

#include <gtest/gtest.h>

namespace oneflow::processes {
namespace {

TEST(Assignment, RanksThatSeeTheSameDevices) {
  EXPECT_TRUE(has_device_for_each({{1, 2}, {1, 2}}));
  EXPECT_FALSE(has_device_for_each({{1, 2}, {1, 2}, {1, 2}}));
}

TEST(Assignment, RanksThatSeeOne) {
  EXPECT_FALSE(has_device_for_each({{1}, {1}}));
  EXPECT_TRUE(has_device_for_each({{1}, {2}}));
}

TEST(Assignment, ARankLeavesItsDeviceToAnother) {
  EXPECT_TRUE(has_device_for_each({{1, 2}, {1}}));
  EXPECT_TRUE(has_device_for_each({{1, 2}, {2, 3}, {1}}));
}

TEST(Assignment, DevicesOfAnotherHostDoNotHelp) { EXPECT_FALSE(has_device_for_each({{1}, {1}, {2, 3, 4}})); }

TEST(Assignment, NoDevices) {
  EXPECT_TRUE(has_device_for_each({}));
  EXPECT_FALSE(has_device_for_each({{}}));
}

}  // namespace
}  // namespace oneflow::processes
