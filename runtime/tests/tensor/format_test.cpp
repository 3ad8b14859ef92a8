#include "tensor/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

// Formats a tensor. Most of the expected strings are what PyTorch 2.13 prints between "tensor(" and ")", hence the
// indentation of 7.
std::string text(const Tensor& tensor, FormatOptions options = {}) {
  options.indent = 7;
  return format_tensor(tensor, options);
}

std::string text(const Shape& sizes, const std::vector<double>& elements, of_dtype dtype = OF_FLOAT32) {
  return text(*make_tensor(sizes, elements, dtype));
}

std::vector<double> counting(int count, double step = 1) {
  std::vector<double> elements(count);
  for (int i = 0; i < count; ++i) elements[i] = i * step;
  return elements;
}

TEST(FormatTest, NumbersAreAligned) {
  EXPECT_EQ(text({3}, {1, 2.5, -3}), "[ 1.0000,  2.5000, -3.0000]");
  EXPECT_EQ(text({3}, {1, 2, -3}), "[ 1.,  2., -3.]");
  EXPECT_EQ(text({2, 2}, {1, 2.5, 1000, -3}), "[[   1.0000,    2.5000],\n        [1000.0000,   -3.0000]]");
  EXPECT_EQ(text({2, 2}, {1, -20, 300, 4}, OF_INT64), "[[  1, -20],\n        [300,   4]]");
  EXPECT_EQ(text({2}, {1, 0}, OF_BOOL), "[ True, False]");
  EXPECT_EQ(text({2}, {1.0 / 3, 2.0 / 3}, OF_FLOAT16), "[0.3333, 0.6665]");
}

TEST(FormatTest, UsesScientificNotationForWideRanges) {
  EXPECT_EQ(text({2}, {1e-5, 2.5}), "[1.0000e-05, 2.5000e+00]");
  EXPECT_EQ(text({2}, {1e9, 2}), "[1.0000e+09, 2.0000e+00]");
  EXPECT_EQ(text({2}, {12345, 0.5}), "[1.2345e+04, 5.0000e-01]");
}

TEST(FormatTest, InfinitiesAndNaN) {
  EXPECT_EQ(text({4}, {1.5, NAN, -INFINITY, 0}), "[1.5000,    nan,   -inf, 0.0000]");
  EXPECT_EQ(text({2}, {NAN, INFINITY}), "[nan, inf]");
  EXPECT_EQ(text({2}, {1, NAN}), "[ 1., nan]");  // PyTorch does not align these
  EXPECT_EQ(text({2}, {0, -0.0}), "[ 0., -0.]");
}

TEST(FormatTest, ZeroDimAndEmpty) {
  EXPECT_EQ(text(Shape{}, {3.25}), "3.2500");
  EXPECT_EQ(text(Shape{}, {7}, OF_UINT8), "7");
  EXPECT_EQ(text({2, 0}, {}), "[]");
}

TEST(FormatTest, EmptyLinesSeparateMatrices) {
  EXPECT_EQ(text({2, 2, 2}, counting(8)),
            "[[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]]]");
  EXPECT_EQ(text({2, 1, 1, 1}, {0, 1}), "[[[[0.]]],\n\n\n        [[[1.]]]]");
}

TEST(FormatTest, LongRowsAreWrapped) {
  EXPECT_EQ(text({20}, counting(20), OF_INT32),
            "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n        18, 19]");
  FormatOptions narrow;
  narrow.line_width = 1;
  EXPECT_EQ(text(*make_tensor({2}, {1, 2}), narrow), "[1.,\n        2.]");
}

TEST(FormatTest, TheMiddleOfLargeTensorsIsOmitted) {
  EXPECT_EQ(text({1001}, counting(1001), OF_INT64), "[   0,    1,    2,  ...,  998,  999, 1000]");
  EXPECT_EQ(text({40, 50}, counting(2000)),
            "[[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 4.7000e+01, 4.8000e+01,\n         4.9000e+01],\n"
            "        [5.0000e+01, 5.1000e+01, 5.2000e+01,  ..., 9.7000e+01, 9.8000e+01,\n         9.9000e+01],\n"
            "        [1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.4700e+02, 1.4800e+02,\n         1.4900e+02],\n"
            "        ...,\n"
            "        [1.8500e+03, 1.8510e+03, 1.8520e+03,  ..., 1.8970e+03, 1.8980e+03,\n         1.8990e+03],\n"
            "        [1.9000e+03, 1.9010e+03, 1.9020e+03,  ..., 1.9470e+03, 1.9480e+03,\n         1.9490e+03],\n"
            "        [1.9500e+03, 1.9510e+03, 1.9520e+03,  ..., 1.9970e+03, 1.9980e+03,\n         1.9990e+03]]");
}

TEST(FormatTest, OptionsAndStrides) {
  FormatOptions options;
  options.precision = 8;
  EXPECT_EQ(text(*make_tensor({2}, {1.0 / 3, 2.0 / 3}), options), "[0.33333334, 0.66666669]");
  options = {};
  options.threshold = 3;
  options.edge_items = 1;
  const TensorRef matrix = make_tensor({3, 3}, counting(9), OF_INT8);
  EXPECT_EQ(text(*matrix, options), "[[0,  ..., 2],\n        ...,\n        [6,  ..., 8]]");
  EXPECT_EQ(text(*Tensor::view(*matrix, Shape{3}, Shape{-3}, 7)), "[7, 4, 1]");
  options.edge_items = 0;
  EXPECT_THROW(text(*matrix, options), Error);
}

TEST(FormatTest, MemoryThatTheHostCannotAccess) {
  EXPECT_EQ(text(*make_tensor({2}, {1, 2}, OF_FLOAT32, far_device())), "[1., 2.]");
}

TEST(FormatTest, LargeIntegersKeepTheirDigits) {
  const uint64_t elements[] = {UINT64_MAX, 0};
  const TensorRef tensor = make_tensor({2}, elements, sizeof(elements), OF_UINT64, {0, 0});
  EXPECT_EQ(text(*tensor), "[18446744073709551615,                    0]");
}

}  // namespace
}  // namespace oneflow
