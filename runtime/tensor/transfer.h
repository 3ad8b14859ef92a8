// Copies tensors between devices and the host, and reads and compares their elements.
#ifndef ONEFLOW_TENSOR_TRANSFER_H_
#define ONEFLOW_TENSOR_TRANSFER_H_

#include "device/device.h"
#include "tensor/tensor.h"

namespace oneflow {

// Waits for pending work of the tensor's device, and copies all elements in row-major order to host memory of
// tensor.bytes() bytes.
void read_elements(const Tensor& tensor, void* destination);

// Copies all elements between contiguous tensors of the same shape and dtype. The host does not wait for the copy if
// one of them is in page-locked memory and the device of the other one has events: later access by the host waits for
// it.
void copy_contiguous(const Tensor& target, const Tensor& source);

// Returns a contiguous copy on a device, which may be the tensor's own.
TensorRef copy_to_device(const Tensor& tensor, of_device device);

// Returns a contiguous copy of a tensor in host memory, in page-locked memory that `device` provides; null stands for
// the first device that provides such memory. If there is none, the copy is in ordinary memory of the tensor's device.
TensorRef copy_page_locked(const Tensor& tensor, Device* device);

// Returns the only element. Throws InvalidArgument unless there is exactly one, and DTypeError if it is complex.
of_scalar item(const Tensor& tensor);

// Returns whether shape, dtype and all elements are equal. NaN differs from NaN.
bool equal(const Tensor& a, const Tensor& b);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_TRANSFER_H_
