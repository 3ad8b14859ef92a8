#include "simd/maths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace oneflow::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Returns the distance of two floats of equal sign, in units of the last place.
int64_t distance(float a, float b) {
  return std::abs(int64_t{__builtin_bit_cast(int32_t, a)} - __builtin_bit_cast(int32_t, b));
}

// Returns the largest error, in units of the last place, over a sample of all positive floats, infinity included.
template <class Function, class Exact>
int64_t largest_error(Function function, Exact exact) {
  int64_t largest = 0;
  for (uint32_t bits = 0; bits <= __builtin_bit_cast(uint32_t, kInfinity); bits += 977) {
    const float x = __builtin_bit_cast(float, bits);
    largest = std::max(largest, distance(function(x), static_cast<float>(exact(double{x}))));
  }
  return largest;
}

TEST(Maths, TanhAndErfAreAccurateToAFewUnitsOfTheLastPlace) {
  EXPECT_LE(largest_error([](float x) { return maths::tanh(x); }, [](double x) { return std::tanh(x); }), 6);
  EXPECT_LE(largest_error([](float x) { return maths::erf(x); }, [](double x) { return std::erf(x); }), 6);
}

TEST(Maths, TanhAndErfOfZeroInfinityAndNaN) {
  for (const auto function : {+[](float x) { return maths::tanh(x); }, +[](float x) { return maths::erf(x); }}) {
    EXPECT_EQ(function(kInfinity), 1.0f);
    EXPECT_EQ(function(-kInfinity), -1.0f);
    EXPECT_EQ(function(100.0f), 1.0f);
    EXPECT_TRUE(std::isnan(function(kNaN)));
    EXPECT_TRUE(std::signbit(function(-0.0f)));
    EXPECT_EQ(function(0.0f), 0.0f);
  }
}

TEST(Maths, IntegerDivisionNeverTraps) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  bool failed = false;
  EXPECT_EQ(maths::floordiv(lowest, -1, failed), lowest);
  EXPECT_EQ(maths::remainder(lowest, -1, failed), 0);
  EXPECT_EQ(maths::floordiv(-7, 2, failed), -4);
  EXPECT_EQ(maths::remainder(-7, 2, failed), 1);
  EXPECT_EQ(maths::truncdiv(-7, 2, failed), -3);
  EXPECT_EQ(maths::fmod(-7, 2, failed), -1);
  EXPECT_FALSE(failed);
  maths::remainder(1, 0, failed);
  EXPECT_TRUE(failed);
}

TEST(Maths, IntegerPowers) {
  bool failed = false;
  EXPECT_EQ(maths::pow(2, 10, failed), 1024);
  EXPECT_EQ(maths::pow(3, 0, failed), 1);
  EXPECT_EQ(maths::pow(-1, -3, failed), -1);
  EXPECT_EQ(maths::pow(1, -5, failed), 1);
  EXPECT_EQ(maths::pow(5, -1, failed), 0);
  EXPECT_EQ(maths::pow(0, 0, failed), 1);
  EXPECT_FALSE(failed);
  EXPECT_EQ(maths::pow(0, -2, failed), 0);
  EXPECT_TRUE(failed);
}

TEST(Maths, ShiftsByAnyAmount) {
  EXPECT_EQ(maths::shift_left(1, 31), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(maths::shift_left(1, 32), 0);
  EXPECT_EQ(maths::shift_left(1, -1), 0);
  EXPECT_EQ(maths::shift_right(-8, 40), -1);
  EXPECT_EQ(maths::shift_right(8, 40), 0);
}

TEST(Maths, MaximumAndMinimumPropagateNaN) {
  EXPECT_TRUE(std::isnan(maths::maximum(kNaN, 1.0f)));
  EXPECT_TRUE(std::isnan(maths::maximum(1.0f, kNaN)));
  EXPECT_TRUE(std::isnan(maths::minimum(kNaN, 1.0f)));
  EXPECT_TRUE(std::isnan(maths::minimum(1.0f, kNaN)));
  EXPECT_TRUE(maths::first_of_max(kNaN, 5, kInfinity, 1));
  EXPECT_TRUE(maths::first_of_max(kNaN, 1, kNaN, 5));
  EXPECT_FALSE(maths::first_of_min(2.0f, 5, 2.0f, 1));
}

}  // namespace
}  // namespace oneflow::cpu
