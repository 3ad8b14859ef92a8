// Creates tensors from memory, numbers and other tensors.
#ifndef ONEFLOW_TENSOR_CREATE_H_
#define ONEFLOW_TENSOR_CREATE_H_

#include "tensor/tensor.h"

namespace oneflow {

// Implements of_tensor_create(): checks sizes, strides and offset against the memory, which it then shares or copies.
// If this throws, the deleter is not called.
TensorRef create_tensor(const of_tensor_source& source);

// Returns a 0-d tensor that holds one number.
TensorRef scalar_tensor(const of_scalar& value, of_dtype dtype, of_device device);

// Returns a tensor with the same values, which shares the memory until either is written; see Storage::lazy_clone().
TensorRef lazy_clone(const Tensor& tensor);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_CREATE_H_
