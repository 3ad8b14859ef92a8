// Copies between tensors whose contiguous dimensions differ, by tiles in group-shared memory.
#ifndef ONEFLOW_DEVICES_GRID_TRANSPOSE_H_
#define ONEFLOW_DEVICES_GRID_TRANSPOSE_H_

#include <oneflow/device_plugin.h>

namespace oneflow::grid {

// Copies `input` to `result`, whose elements are integers of the same dtype: uint8, uint16, int32 or int64. Returns
// OF_UNSUPPORTED, without an error text, where a strided kernel is as good: on CPU devices, and where both tensors have
// the same contiguous dimension, or one that is short.
of_status transpose(const of_kernel_tensor& input, const of_kernel_tensor& result, const of_kernel_context& context);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_TRANSPOSE_H_
