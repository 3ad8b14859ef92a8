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

// Returns a tensor with the same values, which shares the memory until either is written. Null where share_lazily() is.
TensorRef lazy_clone(const Tensor& tensor);
// Returns a tensor over the memory of `tensor`, which it shares until either is written. Null if code outside the
// runtime may write the memory, or if most of it would be kept for a small result.
TensorRef share_lazily(const Tensor& tensor, of_dtype dtype, Sizes sizes, Sizes strides, int64_t offset);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_CREATE_H_
