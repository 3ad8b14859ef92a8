// The tensors of the ranks: checks, and flat views of their parts.
#ifndef ONEFLOW_PARALLEL_LOCAL_RANKS_H_
#define ONEFLOW_PARALLEL_LOCAL_RANKS_H_

#include <vector>

#include "dispatch/call.h"
#include "ops/parts.h"

namespace oneflow::collective {

// Returns the tensors of a list argument. Throws InvalidArgument for an empty list, DTypeError for different dtypes.
std::vector<const Tensor*> ranks(const Call& call, int argument);

// Throw ShapeError, with a text that names the rank, unless all tensors have the shape of the first one: in all
// dimensions, or in all except `dim`.
void check_same_shape(const std::vector<const Tensor*>& tensors);
void check_same_shape_outside(const std::vector<const Tensor*>& tensors, int64_t dim);

// Return a contiguous tensor, or a part of it, as a vector.
TensorRef flat(const Tensor& tensor);
TensorRef flat(const Tensor& tensor, Part part);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_LOCAL_RANKS_H_
