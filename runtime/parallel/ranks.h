// The tensors of several ranks: what they must have in common, and the parts that they are cut into.
#ifndef ONEFLOW_PARALLEL_RANKS_H_
#define ONEFLOW_PARALLEL_RANKS_H_

#include <vector>

#include "dispatch/call.h"
#include "ops/parts.h"

namespace oneflow::collective {

// The tensors of the list argument `argument`: at least one, of one dtype.
std::vector<const Tensor*> ranks(const Call& call, int argument);

// ShapeError that names the rank unless all have the shape of the first, or the same one outside of `dim`.
void check_same_shape(const std::vector<const Tensor*>& tensors);
void check_same_shape_outside(const std::vector<const Tensor*>& tensors, int64_t dim);

// The elements of contiguous memory in one dimension, all of them or a part.
TensorRef flat(const Tensor& tensor);
TensorRef flat(const Tensor& tensor, Part part);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_RANKS_H_
