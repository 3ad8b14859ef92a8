// Sums over the elements of a row, for sources that are compiled once per instruction set.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_ROW_SUMS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_ROW_SUMS_H_

#include <cstdint>

namespace oneflow::cpu::OF_ISA {
namespace {

// Sums of so many elements are added up in double precision.
constexpr int64_t kPiece = 4096;

// Returns the sum of value(i) for the positions of a row.
template <class T, class Value>
static inline double sum_over(int64_t count, Value value) {
  double total = 0;
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t end = count - first < kPiece ? count : first + kPiece;
    T a = 0, b = 0;  // two sums, because an addition waits for the one before
    const int64_t middle = first + (end - first) / 2;
#pragma omp simd reduction(+ : a, b)
    for (int64_t i = first; i < middle; ++i) {
      a += value(i);
      b += value(i - first + middle);
    }
    if ((end - first) % 2 == 1) b += value(end - 1);
    total += static_cast<double>(a) + static_cast<double>(b);
  }
  return total;
}

}  // namespace
}  // namespace oneflow::cpu::OF_ISA

#endif  // ONEFLOW_DEVICES_CPU_ROWS_ROW_SUMS_H_
