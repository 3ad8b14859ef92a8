// Element types and tensors of ONNX as ours.
#ifndef ONEFLOW_ONNX_TENSORS_H_
#define ONEFLOW_ONNX_TENSORS_H_

#include <oneflow/oneflow.hpp>

#include "onnx/file.h"
#include "onnx/format.h"

namespace oneflow::onnx {

// Returns the dtype of an element type. Throws Unsupported for types without one.
DType dtype_of(ElementType type);
// Returns the element type of a dtype.
ElementType element_type_of(DType dtype);

// Returns a tensor with the elements of one in a model, whose memory in the file is released: it can be called once.
// Throws InvalidArgument if their number or size is wrong.
Tensor to_tensor(const TensorProto& proto, ModelFiles& files);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_TENSORS_H_
