// Loops of softmax and log_softmax over one row of contiguous elements, which stays in the cache.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_SOFTMAX_LOOPS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_SOFTMAX_LOOPS_H_

#include <cstdint>

#include "simd/isa.h"

namespace oneflow::cpu {

template <class T>
struct SoftmaxLoops {
  void (*softmax)(const T* input, T* result, int64_t count);
  void (*softmax_gradient)(const T* grad, const T* result, T* of_input, int64_t count);
  void (*log_softmax)(const T* input, T* result, int64_t count);
  void (*log_softmax_gradient)(const T* grad, const T* result, T* of_input, int64_t count);
};

OF_EACH_ISA(extern const SoftmaxLoops<float> kFloatSoftmax)
OF_EACH_ISA(extern const SoftmaxLoops<double> kDoubleSoftmax)

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_SOFTMAX_LOOPS_H_
