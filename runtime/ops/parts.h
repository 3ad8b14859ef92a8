// Parts of a tensor along a dimension.
#ifndef ONEFLOW_OPS_PARTS_H_
#define ONEFLOW_OPS_PARTS_H_

#include "tensor/tensor.h"

namespace oneflow {

struct Part {
  int64_t start, size;
};

// Part `index` of `size` elements that are cut into `count` parts: the first ones are larger by one where it does not
// come out even.
Part even_part(int64_t size, int64_t index, int64_t count);

// The elements of a part of one dimension: a view, or a tensor without memory of one without.
TensorRef narrow(const Tensor& tensor, int64_t dim, Part part);

// ShapeError for a tensor without dimensions, which has none to cut or to join along; `argument` is the first word.
void check_has_dims(const Tensor& tensor, const char* argument);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_PARTS_H_
