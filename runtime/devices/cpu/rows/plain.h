// The operands of hand-written kernels of composites, which compute contiguous tensors of float32 or float64.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_PLAIN_H_
#define ONEFLOW_DEVICES_CPU_ROWS_PLAIN_H_

#include <oneflow/device_plugin.h>

#include <algorithm>
#include <initializer_list>

#include "copy/strided.h"

namespace oneflow::cpu {

inline Layout layout_of(const of_kernel_tensor& tensor) { return {tensor.rank, tensor.sizes, tensor.strides}; }

// Returns whether a tensor has `count` contiguous elements of the compute type.
inline bool is_plain(const of_kernel_context& context, const of_kernel_tensor& tensor, int64_t count) {
  const Layout layout = layout_of(tensor);
  return tensor.dtype == context.compute && is_contiguous(layout) && element_count(layout) == count;
}

using Tensors = std::initializer_list<const of_kernel_tensor*>;

// Returns whether all tensors are contiguous, of the compute type, and as large as the first one.
inline bool are_plain(const of_kernel_context& context, Tensors tensors) {
  const int64_t count = element_count(layout_of(**tensors.begin()));
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const of_kernel_tensor* tensor) { return is_plain(context, *tensor, count); });
}

template <class T>
T* data_of(const of_kernel_tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

// Calls run(T()) with the compute type.
template <class Run>
of_status with_type(const of_kernel_context& context, Run run) {
  if (context.compute == OF_FLOAT32) return run(float());
  if (context.compute == OF_FLOAT64) return run(double());
  return OF_UNSUPPORTED;
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_PLAIN_H_
