// Splitting a tensor along a dimension.
#ifndef ONEFLOW_OPS_PARTS_H_
#define ONEFLOW_OPS_PARTS_H_

#include "tensor/tensor.h"

namespace oneflow {

// A range of indices of one dimension.
struct Part {
  int64_t start, size;
};

// Returns part `index` of `size` elements split into `count` parts. If `size` is not a multiple of `count`, the first
// parts are larger by one.
Part even_part(int64_t size, int64_t index, int64_t count);

// Returns the part of `tensor` along `dim` as a view, or as a tensor without memory if `tensor` has none.
TensorRef narrow(const Tensor& tensor, int64_t dim, Part part);

// Throws ShapeError for a 0-d tensor, which has no dimension to split or to join along. `argument` begins the error
// text.
void check_has_dims(const Tensor& tensor, const char* argument);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_PARTS_H_
