// The functions that records may use in the stride maps of views (see "List expressions" in docs/reference/records.md),
// including their checks. Arguments of type `dim` are non-negative: dispatch has normalized them.
#ifndef ONEFLOW_OPS_VIEW_FUNCTIONS_H_
#define ONEFLOW_OPS_VIEW_FUNCTIONS_H_

#include <oneflow/types.h>

#include "base/shape.h"
#include "dispatch/call.h"

namespace oneflow {

// Returns the item of `list` for dimension `dim`. Throws ShapeError for an empty list, because dims -1 and 0 pass the
// check of dispatch for a 0-d tensor.
int64_t at_dim(const Shape& list, int64_t dim);

// Swaps the items `a` and `b`.
Shape swap(Shape list, int64_t a, int64_t b);
// Swaps the two items of a matrix, and returns shorter lists unchanged. Throws ShapeError for longer ones.
Shape transposed(Shape list);
Shape replace(Shape list, int64_t dim, int64_t value);
Shape insert(Shape list, int64_t dim, int64_t value);
Shape remove(Shape list, int64_t dim);
// Removes two items. Throws InvalidArgument if both dims are the same.
Shape remove(Shape list, int64_t dim1, int64_t dim2);
Shape append(Shape list, int64_t value);
// Returns the items in the order `dims`. Throws InvalidArgument unless `dims` names each dimension once.
Shape permute(const Shape& list, Sizes dims);

// Returns the non-negative position of a new dimension; `dim` may be at most `rank`. Throws IndexOutOfRange otherwise.
int64_t insertion_point(int64_t dim, int64_t rank);

// Removes the items of dimensions of size 1: all of them, or only those in `dims`.
Shape without_ones(const Shape& list, const Shape& sizes);
Shape without_ones_at(const Shape& list, const Shape& sizes, Sizes dims);

// Return the sizes and strides of a tensor expanded to `to`, with stride 0 in repeated dimensions. They throw
// ShapeError if a size other than 1 would have to change.
Shape expand_sizes(const Shape& sizes, Sizes to);
Shape expand_strides(const Shape& sizes, const Shape& strides, Sizes to);

// Returns `index` made non-negative. Throws IndexOutOfRange unless dimension `dim` of size `size` has it.
int64_t element(int64_t index, int64_t dim, int64_t size);

// Return the first index and the length of start:end:step over `size` elements, by Python's rules. NONE stands for a
// bound that is not given.
int64_t slice_begin(const of_value& start, int64_t step, int64_t size);
int64_t slice_length(const of_value& start, const of_value& end, int64_t step, int64_t size);
// Returns the stride of a slice with `length` elements. The stride of fewer than two elements does not matter, so that
// it stays as it is and cannot overflow.
int64_t slice_stride(int64_t stride, int64_t step, int64_t length);

// Returns `start` made non-negative. Throws IndexOutOfRange unless the dimension has `length` elements from there on.
int64_t narrow_begin(int64_t start, int64_t length, int64_t dim, int64_t size);

// Return the length of the diagonal of a matrix with rows `dim1` and columns `dim2`, and the offset of its first
// element relative to the matrix. `offset` counts columns to the right of the main diagonal, or, if negative, rows
// below it.
int64_t diagonal_length(const Shape& sizes, int64_t dim1, int64_t dim2, int64_t offset);
int64_t diagonal_begin(const Shape& sizes, const Shape& strides, int64_t dim1, int64_t dim2, int64_t offset);

// Returns `strides` with absurd ones replaced (see normalize_unused_strides()). Throws InvalidArgument unless `strides`
// and `sizes` have the same length.
Shape same_length(Sizes strides, Sizes sizes);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_VIEW_FUNCTIONS_H_
