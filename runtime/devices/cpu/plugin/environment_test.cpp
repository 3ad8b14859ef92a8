#include "plugin/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace oneflow::cpu {
namespace {

constexpr const char* kName = "ONEFLOW_TEST_NUMBER";

int number_for(const char* value) {
  if (value == nullptr)
    unsetenv(kName);
  else
    setenv(kName, value, 1);
  return environment_number(kName, 64, 7);
}

TEST(Environment, ReadsIntegersInTheRange) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(number_for("1"), 1);
  EXPECT_EQ(number_for("64"), 64);
  EXPECT_EQ(number_for(nullptr), 7);
  EXPECT_EQ(number_for(""), 7);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Environment, ReportsOtherValuesAndIgnoresThem) {
  for (const char* value : {"0", "-1", "65", "2.5", "4 ", " 4", "0x4", "many", "99999999999999999999"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(number_for(value), 7) << value;
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "oneflow: the environment variable ONEFLOW_TEST_NUMBER must be an integer from 1 to 64, got '" +
                  std::string(value) + "', and is ignored\n");
  }
}

}  // namespace
}  // namespace oneflow::cpu
