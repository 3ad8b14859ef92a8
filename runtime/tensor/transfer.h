// Elements between devices and the host.
#ifndef ONEFLOW_TENSOR_TRANSFER_H_
#define ONEFLOW_TENSOR_TRANSFER_H_

#include "device/device.h"
#include "tensor/tensor.h"

namespace oneflow {

// Copies all elements, row-major, to host memory of tensor.bytes() bytes; waits for pending work on the tensor's
// device.
void read_elements(const Tensor& tensor, void* destination);

// A contiguous copy on another (or the same) device.
TensorRef copy_to_device(const Tensor& tensor, of_device device);

// A contiguous copy of a tensor that the host can reach, in page-locked memory of `device`; NULL stands for the first
// one that offers it. Without such memory it lies where tensors lie.
TensorRef copy_page_locked(const Tensor& tensor, Device* device);

// The only element. InvalidArgument unless there is exactly one, DTypeError for a complex one.
of_scalar item(const Tensor& tensor);

// Same shape, same dtype, all elements equal.
bool equal(const Tensor& a, const Tensor& b);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_TRANSFER_H_
