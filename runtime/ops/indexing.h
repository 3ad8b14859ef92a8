// Indexing with an expression of several parts, as in tensor[1:3, index]. Basic parts together become one view, or one
// each where a layer wants to see them; an expression that contains tensors or bools needs advanced indexing as well.
#ifndef ONEFLOW_OPS_INDEXING_H_
#define ONEFLOW_OPS_INDEXING_H_

#include <oneflow/oneflow.h>

#include <span>

#include "tensor/tensor.h"

namespace oneflow {

// Implements of_tensor_index().
TensorRef get_items(const Tensor& tensor, std::span<const of_index> parts);

// Implements of_tensor_set_index(). `value` is a tensor or a number.
void set_items(const Tensor& tensor, std::span<const of_index> parts, const of_value& value);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_INDEXING_H_
