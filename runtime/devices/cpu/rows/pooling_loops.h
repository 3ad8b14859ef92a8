// Loops of pooling over contiguous elements: they fold rows into one, and windows of a row.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_POOLING_LOOPS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_POOLING_LOOPS_H_

#include <cstdint>

#include "simd/isa.h"

namespace oneflow::cpu {

// Windows of a row: that of result[i] has the elements row[i * step + k * apart] for k < size.
template <class T>
struct RowWindows {
  const T* row;
  int64_t size, apart, step;
  T* result;
  int64_t count;
};

// Each folds by the largest element or by the sum. A row may be folded into the first one. A NaN is larger than every
// number.
template <class T>
struct PoolingLoops {
  void (*largest_of_rows)(const T* const* rows, int64_t row_count, T* result, int64_t count);
  void (*sum_of_rows)(const T* const* rows, int64_t row_count, T* result, int64_t count);
  void (*largest_of_windows)(const RowWindows<T>& windows);
  void (*sum_of_windows)(const RowWindows<T>& windows);
};

OF_EACH_ISA(extern const PoolingLoops<float> kFloatPooling)
OF_EACH_ISA(extern const PoolingLoops<double> kDoublePooling)

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_POOLING_LOOPS_H_
