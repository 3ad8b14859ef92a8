// Tensors from outside data and from other tensors.
#ifndef ONEFLOW_TENSOR_CREATE_H_
#define ONEFLOW_TENSOR_CREATE_H_

#include "tensor/tensor.h"

namespace oneflow {

// What of_tensor_create() does: checks sizes, strides and offset against the memory, then shares or copies it.
TensorRef create_tensor(const of_tensor_source& source);

// A 0-d tensor that holds one number.
TensorRef scalar_tensor(const of_scalar& value, of_dtype dtype, of_device device);

// The same values in memory that is shared until either side is written.
TensorRef lazy_clone(const Tensor& tensor);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_CREATE_H_
