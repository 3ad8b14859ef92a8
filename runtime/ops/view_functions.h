// The functions that the stride maps of the records may use (see "List expressions" in docs/architecture.md), and the
// checks that go with them. Dims are non-negative already.
#ifndef ONEFLOW_OPS_VIEW_FUNCTIONS_H_
#define ONEFLOW_OPS_VIEW_FUNCTIONS_H_

#include <oneflow/types.h>

#include "base/shape.h"
#include "dispatch/call.h"

namespace oneflow {

// The member at a dimension. A 0-d tensor, for which dims -1 and 0 are valid names, has none: ShapeError.
int64_t member(const Shape& list, int64_t dim);

Shape swap(Shape list, int64_t a, int64_t b);
// The two members of a matrix swapped; shorter lists as they are. ShapeError for longer ones.
Shape turned(Shape list);
Shape replace(Shape list, int64_t dim, int64_t value);
Shape insert(Shape list, int64_t dim, int64_t value);
Shape remove(Shape list, int64_t dim);
// Removes two members; InvalidArgument where they are one.
Shape remove(Shape list, int64_t dim1, int64_t dim2);
Shape append(Shape list, int64_t value);
// InvalidArgument unless `dims` names each dimension once.
Shape permute(const Shape& list, Sizes dims);

// Where a new dimension goes: `dim` may also be the rank itself. IndexOutOfRange beyond.
int64_t insertion_point(int64_t dim, int64_t rank);

// The members whose size is not 1, and those that are not both at one of `dims` and of size 1.
Shape without_ones(const Shape& list, const Shape& sizes);
Shape without_ones_at(const Shape& list, const Shape& sizes, Sizes dims);

// Sizes and strides that repeat dimensions of size 1. ShapeError where another size would have to change.
Shape expand_sizes(const Shape& sizes, Sizes to);
Shape expand_strides(const Shape& sizes, const Shape& strides, Sizes to);

// The position of an element, counted from the end when negative. IndexOutOfRange.
int64_t element(int64_t index, int64_t dim, int64_t size);

// Python's rules for start:end:step over `size` elements; NONE stands for an end that is not given.
int64_t slice_begin(const of_value& start, int64_t step, int64_t size);
int64_t slice_length(const of_value& start, const of_value& end, int64_t step, int64_t size);
// The stride of a slice with `length` elements; what it is for fewer than two does not matter.
int64_t slice_stride(int64_t stride, int64_t step, int64_t length);

// `start` made non-negative, where `length` elements from there on exist. IndexOutOfRange.
int64_t narrow_begin(int64_t start, int64_t length, int64_t dim, int64_t size);

// The diagonal of the matrices that two dimensions make up, `offset` to the right of the main one.
int64_t diagonal_length(const Shape& sizes, int64_t dim1, int64_t dim2, int64_t offset);
int64_t diagonal_begin(const Shape& sizes, const Shape& strides, int64_t dim1, int64_t dim2, int64_t offset);

// `strides` without absurd ones; InvalidArgument unless there are as many as `sizes`.
Shape same_length(Sizes strides, Sizes sizes);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_VIEW_FUNCTIONS_H_
