#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/half.h"
#include "base/scalar.h"

namespace oneflow {
namespace {

constexpr of_dtype kNoType = OF_DTYPE_NONE;

// The results of torch.promote_types in PyTorch 2.13, by row and column in the order of of_dtype. They also define the
// promotion of complex types with uint16, uint32 and uint64, which PyTorch rejects, although it promotes floating-point
// types with these.
constexpr const char* kPromotion[OF_DTYPE_COUNT] = {
    "bool uint8 int8 int16 int32 int64 - - - float16 bfloat16 float32 float64 complex64 complex128",
    "uint8 uint8 int16 int16 int32 int64 - - - float16 bfloat16 float32 float64 complex64 complex128",
    "int8 int16 int8 int16 int32 int64 - - - float16 bfloat16 float32 float64 complex64 complex128",
    "int16 int16 int16 int16 int32 int64 - - - float16 bfloat16 float32 float64 complex64 complex128",
    "int32 int32 int32 int32 int32 int64 - - - float16 bfloat16 float32 float64 complex64 complex128",
    "int64 int64 int64 int64 int64 int64 - - - float16 bfloat16 float32 float64 complex64 complex128",
    "- - - - - - uint16 - - float16 bfloat16 float32 float64 complex64 complex128",
    "- - - - - - - uint32 - float16 bfloat16 float32 float64 complex64 complex128",
    "- - - - - - - - uint64 float16 bfloat16 float32 float64 complex64 complex128",
    "float16 float16 float16 float16 float16 float16 float16 float16 float16 "
    "float16 float32 float32 float64 complex64 complex128",
    "bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 "
    "float32 bfloat16 float32 float64 complex64 complex128",
    "float32 float32 float32 float32 float32 float32 float32 float32 float32 "
    "float32 float32 float32 float64 complex64 complex128",
    "float64 float64 float64 float64 float64 float64 float64 float64 float64 "
    "float64 float64 float64 float64 complex128 complex128",
    "complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 complex64 "
    "complex64 complex64 complex64 complex128 complex64 complex128",
    "complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 "
    "complex128 complex128 complex128 complex128 complex128 complex128",
};

of_dtype parse_or_none(const std::string& name) { return name == "-" ? kNoType : parse_dtype(name); }

TEST(DTypeTest, PromotionMatchesPyTorch) {
  for (int a = 0; a < OF_DTYPE_COUNT; ++a) {
    std::istringstream row(kPromotion[a]);
    for (int b = 0; b < OF_DTYPE_COUNT; ++b) {
      std::string expected;
      row >> expected;
      EXPECT_EQ(promote_types(static_cast<of_dtype>(a), static_cast<of_dtype>(b)), parse_or_none(expected))
          << kDTypes[a].name << " with " << kDTypes[b].name;
    }
  }
}

of_dtype result(std::initializer_list<std::pair<of_dtype, bool>> tensors,
                std::initializer_list<of_scalar_kind> numbers) {
  Promotion promotion;
  for (const auto& [dtype, has_dimensions] : tensors) promotion.add_tensor(dtype, has_dimensions);
  for (const of_scalar_kind kind : numbers) promotion.add_number(kind, OF_FLOAT32);
  return promotion.result();
}

TEST(DTypeTest, NumbersAndZeroDimTensorsAreWeak) {
  EXPECT_EQ(result({{OF_INT8, true}}, {OF_SCALAR_INT}), OF_INT8);
  EXPECT_EQ(result({{OF_INT8, true}}, {OF_SCALAR_FLOAT}), OF_FLOAT32);
  EXPECT_EQ(result({{OF_FLOAT16, true}}, {OF_SCALAR_FLOAT}), OF_FLOAT16);
  EXPECT_EQ(result({{OF_BOOL, true}}, {OF_SCALAR_INT}), OF_INT64);
  EXPECT_EQ(result({{OF_UINT16, true}}, {OF_SCALAR_INT}), OF_UINT16);
  EXPECT_EQ(result({{OF_INT32, true}, {OF_INT64, false}}, {}), OF_INT32);
  EXPECT_EQ(result({{OF_INT32, true}, {OF_FLOAT16, false}}, {}), OF_FLOAT16);
  EXPECT_EQ(result({{OF_BOOL, true}, {OF_UINT8, false}}, {OF_SCALAR_INT}), OF_UINT8);
  EXPECT_EQ(result({{OF_INT32, false}}, {OF_SCALAR_BOOL}), OF_INT32);
  EXPECT_EQ(result({}, {OF_SCALAR_BOOL, OF_SCALAR_FLOAT}), OF_FLOAT32);
  EXPECT_EQ(result({}, {}), OF_BOOL);
  EXPECT_THROW(result({{OF_UINT16, true}, {OF_INT32, true}}, {}), Error);
}

TEST(DTypeTest, TheErrorForAnUnknownNameListsAllNames) {
  try {
    parse_dtype("float31");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_DTYPE_ERROR);
    EXPECT_EQ(error.text(),
              "there is no dtype 'float31'; there are bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64, "
              "float16, bfloat16, float32, float64, complex64, complex128");
  }
}

TEST(HalfTest, EveryFloat16SurvivesARoundTrip) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(to_float(to_float16(value))));
    else
      EXPECT_EQ(to_float16(value).bits, bits);
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  EXPECT_EQ(to_float(to_float16(2049.0f)), 2048.0f);
  EXPECT_EQ(to_float(to_float16(2051.0f)), 2052.0f);
  EXPECT_EQ(to_float(to_float16(65519.0f)), 65504.0f);
  EXPECT_EQ(to_float(to_float16(65520.0f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_float(to_float16(0x1p-25f)), 0.0f);  // half of the smallest number: to even
  EXPECT_EQ(to_float(to_float16(0x1.1p-25f)), 0x1p-24f);
  EXPECT_EQ(to_float(to_bfloat16(1.00390625f)), 1.0f);  // halfway: to even
  EXPECT_EQ(to_float(to_bfloat16(1.01171875f)), 1.015625f);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::nanf("")))));
}

TEST(HalfTest, DoublesAreRoundedOnce) {
  const double just_above = 2049.0 + 1e-9;  // rounded to float first, it would be 2049, and then 2048
  EXPECT_EQ(to_float(to_float16(just_above)), 2050.0f);
  EXPECT_EQ(to_float(to_float16(-just_above)), -2050.0f);
  EXPECT_EQ(to_float(to_bfloat16(1.00390625 + 1e-12)), 1.0078125f);
  EXPECT_EQ(to_float(to_float16(1e300)), std::numeric_limits<float>::infinity());
}

TEST(ScalarTest, WritingConverts) {
  const auto through = [](of_dtype dtype, const of_scalar& value) {
    uint64_t memory = 0;
    write_element(&memory, dtype, value);
    return to_text(read_element(&memory, dtype));
  };
  EXPECT_EQ(through(OF_UINT8, int_scalar(300)), "44");
  EXPECT_EQ(through(OF_INT8, float_scalar(-1.9)), "-1");
  EXPECT_EQ(through(OF_BOOL, float_scalar(0.5)), "True");
  EXPECT_EQ(through(OF_UINT64, natural_scalar(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(through(OF_UINT64, float_scalar(1e19)), "10000000000000000000");
  EXPECT_EQ(through(OF_INT64, float_scalar(1e30)), "9223372036854775807");
  EXPECT_EQ(through(OF_INT64, float_scalar(std::nan(""))), "0");
  EXPECT_EQ(through(OF_FLOAT64, int_scalar(3)), "3.0");
  EXPECT_EQ(through(OF_FLOAT32, int_scalar((int64_t{1} << 24) + 1)), "16777216.0");
  EXPECT_EQ(through(OF_FLOAT16, float_scalar(INFINITY)), "inf");
}

TEST(ScalarTest, FitsChecksTheRangeOfTheDType) {
  EXPECT_TRUE(fits(int_scalar(255), OF_UINT8));
  EXPECT_FALSE(fits(int_scalar(256), OF_UINT8));
  EXPECT_FALSE(fits(int_scalar(-1), OF_UINT64));
  EXPECT_TRUE(fits(int_scalar(-128), OF_INT8));
  EXPECT_FALSE(fits(int_scalar(128), OF_INT8));
  EXPECT_TRUE(fits(natural_scalar(UINT64_MAX), OF_UINT64));
  EXPECT_FALSE(fits(natural_scalar(UINT64_MAX), OF_INT64));
  EXPECT_FALSE(fits(float_scalar(1), OF_INT32));
  EXPECT_TRUE(fits(float_scalar(1e300), OF_FLOAT16));
}

}  // namespace
}  // namespace oneflow
