// Access to the memory of other devices, and the order of work on several devices.
#ifndef ONEFLOW_PARALLEL_LOCAL_ACCESS_H_
#define ONEFLOW_PARALLEL_LOCAL_ACCESS_H_

#include <span>

#include "tensor/tensor.h"

namespace oneflow::collective {

// Returns a tensor that kernels of `device` can use: the tensor itself if it is on `device`; a tensor of `device` over
// the same memory if the device can access it; otherwise NULL. A returned tensor does not own memory of another device:
// it must not outlive `tensor`.
TensorRef accessible_from(const Tensor& tensor, of_device device);

// In the following functions, `caller` is the name of the operator that the work is for. The texts of deferred errors
// begin with it.

// Returns the tensor itself if it is contiguous, otherwise a contiguous copy.
TensorRef packed(const char* caller, const Tensor& tensor);

// Copies the elements of `source` to `target`, which must have the same shape and dtype. Strides and devices may
// differ. Uses a copy kernel if one device can access the memory of the other, otherwise a contiguous transfer.
void copy_elements(const char* caller, const Tensor& target, const Tensor& source);

// Makes all work submitted later to any of the devices wait for all work submitted so far to any of them.
void join_streams(std::span<const of_device> devices);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_LOCAL_ACCESS_H_
