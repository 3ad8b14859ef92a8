// tensor[parts]: the parts become views, and advanced indexing where tensors are among them.
#ifndef ONEFLOW_OPS_INDEXING_H_
#define ONEFLOW_OPS_INDEXING_H_

#include <oneflow/oneflow.h>

#include <span>

#include "tensor/tensor.h"

namespace oneflow {

// What of_tensor_index() does.
TensorRef get_items(const Tensor& tensor, std::span<const of_index> parts);

// What of_tensor_set_index() does. `value` is a tensor or a number.
void set_items(const Tensor& tensor, std::span<const of_index> parts, const of_value& value);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_INDEXING_H_
