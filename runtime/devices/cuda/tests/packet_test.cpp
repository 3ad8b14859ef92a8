// Tests on the host how strided kernels load and store their elements. The header of the kernels is compiled as C++.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define asm(...) static_cast<void>(0)  // conversions of float16, which this test does not use

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

struct {
  unsigned x;
} blockIdx, blockDim, threadIdx;
unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
uint64_t __umul64hi(uint64_t a, uint64_t b) { return static_cast<uint64_t>(static_cast<__uint128_t>(a) * b >> 64); }
int atomicCAS(int* flag, int, int value) { return *flag = value; }
unsigned __float_as_uint(float) { return 0; }
float __uint_as_float(unsigned) { return 0; }
long long __double_as_longlong(double) { return 0; }
double __longlong_as_double(int64_t) { return 0; }
float __fmaf_rn(float, float, float) { return 0; }
double __fma_rn(double, double, double) { return 0; }
struct ulonglong2 {
  uint64_t x, y;
};

// clang-format off
#include "../../grid/kernels/dialect.h"
#include "../../grid/kernels/layout.h"
#include "../../grid/kernels/element.h"
#include "../../grid/kernels/runs.h"
// clang-format on

constexpr int kRun = 4;

// Copies kRun elements between any addresses, with any strides.
template <class T, int S>
void check() {
  alignas(16) T from[64], to[64];
  std::iota(from, from + 64, static_cast<T>(1));
  for (int base = 0; base < 4; ++base) {
    for (int64_t first = 0; first < 8; ++first) {
      for (const int64_t stride : {0, 1, 2, 3}) {
        int64_t at[kRun];
        for (int k = 0; k < kRun; ++k) at[k] = first + k * stride;
        T values[kRun];
        of_load_strided<T, S>(values, from + base, S, T(0), at, stride, 0, 1, kRun);
        for (int k = 0; k < kRun; ++k) ASSERT_EQ(values[k], from[base + at[k]]);
        if (stride == 0) continue;
        std::fill_n(to, 64, T(0));
        of_store_strided<T, S>(to + base, S, at, stride, 0, 1, kRun, values);
        for (int k = 0; k < kRun; ++k) to[base + at[k]] -= values[k];
        ASSERT_EQ(std::accumulate(to, to + 64, T(0)), T(0));
      }
    }
  }
}

TEST(Packets, AreElementsAtAnyAddress) {
  check<float, OF_FLOAT32>();
  check<double, OF_FLOAT64>();
  check<int32_t, OF_INT32>();
  check<int64_t, OF_INT64>();
}

TEST(Packets, AreNotReadBeyondTheEnd) {
  const float from[] = {1, 2, 3};
  const int64_t at[kRun] = {0, 1, 2, 1000000};
  float values[kRun] = {};
  of_load_strided<float, OF_FLOAT32>(values, from, OF_FLOAT32, 0.0F, at, 0, 0, 1, 3);
  EXPECT_EQ(std::vector(values, values + 3), std::vector(from, from + 3));
}

}  // namespace
