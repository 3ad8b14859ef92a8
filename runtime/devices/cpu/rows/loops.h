// Loops over one row of contiguous elements, for composites that read a row several times: it stays in the cache.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_LOOPS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_LOOPS_H_

#include <cstdint>

#include "simd/isa.h"

namespace oneflow::cpu {

// What the gradient of `standardize` computes from a row.
template <class T>
struct StandardizeGradient {
  const T* grad;
  const T* input;
  const T* weight;  // null: 1
  T* of_input;      // the gradient of the row
  T* of_weight;     // the gradient of the weight, to which that of the row is added; null: not wanted
  T* of_bias;       // likewise
  int64_t count;
  double eps;
};

template <class T>
struct RowLoops {
  void (*softmax)(const T* input, T* result, int64_t count);
  void (*softmax_gradient)(const T* grad, const T* result, T* of_input, int64_t count);
  void (*log_softmax)(const T* input, T* result, int64_t count);
  void (*log_softmax_gradient)(const T* grad, const T* result, T* of_input, int64_t count);
  // `weight` and `bias` may be null.
  void (*standardize)(const T* input, const T* weight, const T* bias, double eps, T* result, int64_t count);
  void (*standardize_gradient)(const StandardizeGradient<T>& row);
  // Adds `count` elements to a sum.
  void (*add)(const T* added, T* sum, int64_t count);
};

OF_EACH_ISA(extern const RowLoops<float> kFloatRows)
OF_EACH_ISA(extern const RowLoops<double> kDoubleRows)

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_LOOPS_H_
