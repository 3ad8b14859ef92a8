// The layout of an operand by labels, with which contractions are planned.
#ifndef ONEFLOW_EINSUM_LAYOUT_H_
#define ONEFLOW_EINSUM_LAYOUT_H_

#include <span>
#include <vector>

#include "einsum/equation.h"
#include "tensor/tensor.h"

namespace oneflow::einsum {

// A dimension of an operand.
struct LabelledDim {
  int label;
  int64_t size, stride;  // the stride counts elements
};

// The dimensions of an operand. Each label occurs at most once. Dimensions of size 1 are left out: they do not change a
// product, and an operand that broadcasts along a label then is one that lacks the label.
using Layout = std::vector<LabelledDim>;

// The label of the dimension of the real and imaginary parts of complex numbers. No equation has it.
inline constexpr int kPart = -1;
// The label of the dimension of parts over which products of complex numbers are summed.
inline constexpr int kSummedPart = -2;

// Returns the layout of a tensor whose dimensions have the given labels; a repeated label stands for the diagonal. For
// a complex dtype, kPart is added as the last dimension, and strides count parts.
Layout lay_out(const Labels& labels, Sizes sizes, Sizes strides, of_dtype dtype);

// Returns the layout of a contiguous tensor with the same dimensions in the same order. Throws ShapeError if the number
// of elements overflows.
Layout contiguous_layout(Layout layout);

// Returns the dimension with a label, or NULL.
const LabelledDim* find(const Layout& layout, int label);

// Returns whether an operand has a label that the result `out` lacks, which is summed over.
bool sums(const Layout& layout, const Layout& out);

// Returns whether each of two operands has a label that the other lacks, so that their product is an outer product.
bool is_outer(const Layout& layout_a, const Layout& layout_b);

// Returns the layout without kPart: the dimensions of complex numbers instead of their parts.
Layout without_part(const Layout& layout);

// Returns the dimensions without kPart in descending order of their absolute strides.
Layout in_memory_order(const Layout& layout);

Shape sizes_of(const Layout& layout);
double elements_of(const Layout& layout);

// Returns a view, with the dimensions `dims`, of a tensor that has the given layout. Dimensions that the layout lacks
// are expanded with stride 0.
TensorRef view_as(const Tensor& tensor, const Layout& layout, const Layout& dims);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_LAYOUT_H_
