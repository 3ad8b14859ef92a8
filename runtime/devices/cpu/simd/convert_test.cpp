#include "simd/convert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "simd/element.h"

namespace oneflow::cpu {
namespace {

// Returns values at the limits of all types, more of them than any vector has lanes.
std::vector<double> samples() {
  std::vector<double> values = {0.0,          -0.0,  0.5,     -0.5,    1.5,     2.5,     -1.0,  127.0, 128.0,
                                255.0,        256.0, 32767.0, 65504.0, 65520.0, 65535.0, 1e-8,  -3e9,  3e9,
                                4294967295.0, -1e19, 1e19,    1.8e19,  1e30,    -1e30,   1e300, 1e-300};
  values.push_back(std::numeric_limits<double>::infinity());
  values.push_back(-std::numeric_limits<double>::infinity());
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  for (int i = 0; i < 120; ++i) values.push_back(i * 1.37 - 60);
  return values;
}

// Vectorised conversions give the same bits as the conversion of one value: a result does not depend on its index.
TEST(Convert, ArraysAgreeWithSingleValues) {
  for (int from = 0; from <= OF_FLOAT64; ++from) {
    for (int to = 0; to <= OF_FLOAT64; ++to) {
      visit_dtype(static_cast<of_dtype>(from), [&](auto source_type) {
        visit_dtype(static_cast<of_dtype>(to), [&](auto result_type) {
          using From = decltype(source_type);
          using To = decltype(result_type);
          const std::vector<double> values = samples();
          const auto count = static_cast<int64_t>(values.size());
          const auto source = std::make_unique<From[]>(values.size());
          const auto results = std::make_unique<To[]>(values.size());
          for (size_t i = 0; i < values.size(); ++i) source[i] = convert<From>(values[i]);
          find_conversion(static_cast<of_dtype>(from), static_cast<of_dtype>(to))(source.get(), results.get(), count);
          for (size_t i = 0; i < values.size(); ++i) {
            const To expected = convert<To>(source[i]);
            const bool is_nan = values[i] != values[i];
            if (is_nan && is_floating<From> && is_floating<To>) continue;  // the bits of a NaN may differ
            EXPECT_EQ(std::memcmp(&results[i], &expected, sizeof expected), 0)
                << "from " << from << " to " << to << ": " << values[i];
          }
        });
      });
    }
  }
}

TEST(Convert, FloatsOutOfRangeHaveADefinedResult) {
  EXPECT_EQ(convert<int32_t>(1e30f), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(convert<int64_t>(std::numeric_limits<double>::quiet_NaN()), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convert<uint8_t>(-1.0f), 255);
  EXPECT_EQ(convert<uint8_t>(300.0f), 44);
  EXPECT_EQ(convert<uint64_t>(1.8e19), 18000000000000000000u);
  EXPECT_EQ(convert<bool>(0.25f), true);
}

TEST(Convert, Bfloat16RoundsToEven) {
  EXPECT_EQ(narrow(1.0f + 1.0f / 256).bits, narrow(1.0f).bits);
  EXPECT_EQ(widen(narrow(1.0f + 3.0f / 256)), 1.0f + 4.0f / 256);
  EXPECT_NE(widen(narrow(std::numeric_limits<float>::quiet_NaN())), 0.0f);
}

}  // namespace
}  // namespace oneflow::cpu
