// What the kernels of one device see of another's memory, and the order of work on several devices.
#ifndef ONEFLOW_PARALLEL_ACCESS_H_
#define ONEFLOW_PARALLEL_ACCESS_H_

#include <span>

#include "tensor/tensor.h"

namespace oneflow::collective {

// The same memory as kernels of `device` see it: the tensor itself where it is there, a tensor of `device` over the
// other's memory where they reach it, else nothing. What is reached lives as long as the original.
TensorRef reach(const Tensor& tensor, of_device device);

// `caller` is the name of the operator that the work is for: errors that are found later begin with it.

// The tensor itself where its memory is contiguous, else a copy that is.
TensorRef packed(const char* caller, const Tensor& tensor);

// Copies the elements of `source` to `target`: one shape and dtype, any strides, any devices. By a kernel where one
// side reaches the other, else in one piece.
void move(const char* caller, const Tensor& target, const Tensor& source);

// Work that is submitted to any of these devices from now on comes after what was submitted to all of them before.
void join_streams(std::span<const of_device> devices);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_ACCESS_H_
