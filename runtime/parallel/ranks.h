// The tensors of several ranks: what they must have in common, and the parts that they are cut into.
#ifndef ONEFLOW_PARALLEL_RANKS_H_
#define ONEFLOW_PARALLEL_RANKS_H_

#include <vector>

#include "dispatch/call.h"

namespace oneflow::collective {

// The tensors of the list argument `argument`: at least one, of one dtype.
std::vector<const Tensor*> ranks(const Call& call, int argument);

// ShapeError that names the rank unless all have the shape of the first, or the same one outside of `dim`.
void check_same_shape(const std::vector<const Tensor*>& tensors);
void check_same_shape_outside(const std::vector<const Tensor*>& tensors, int64_t dim);
// ShapeError for a tensor without dimensions, which has none to cut or to join along; `argument` is the first word.
void check_has_dims(const Tensor& tensor, const char* argument);

// Part `index` of `size` elements that are cut into `count` parts: the first ones are larger by one where it does not
// come out even.
struct Part {
  int64_t start, size;
};
Part part_of(int64_t size, int64_t index, int64_t count);

// The elements of a part of one dimension.
TensorRef narrow(const Tensor& tensor, int64_t dim, Part part);
// The elements of contiguous memory in one dimension, all of them or a part.
TensorRef flat(const Tensor& tensor);
TensorRef flat(const Tensor& tensor, Part part);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_RANKS_H_
