// Where the elements of an operand lie, by labels: what contractions are planned with.
#ifndef ONEFLOW_EINSUM_LAYOUT_H_
#define ONEFLOW_EINSUM_LAYOUT_H_

#include <span>
#include <vector>

#include "einsum/equation.h"
#include "tensor/tensor.h"

namespace oneflow::einsum {

struct LabelledDim {
  int label;
  int64_t size, stride;
};

// Each label at most once. Dimensions of size 1 are left out: they matter to no product, and broadcasting is then the
// same as lacking a label.
using Layout = std::vector<LabelledDim>;

// The two parts of complex numbers lie along a dimension of their own, under a label that no equation has.
inline constexpr int kPart = -1;
// That of the part over which products of complex numbers are summed.
inline constexpr int kSummedPart = -2;

// Dimensions of these sizes and strides under `labels`; a label that comes twice stands for the diagonal. Where the
// dtype is a complex one, the parts are laid out: strides count in them.
Layout lay_out(const Labels& labels, Sizes sizes, Sizes strides, of_dtype dtype);

// The same dimensions in their order, without gaps. ShapeError where no tensor has so many elements.
Layout without_gaps(Layout layout);

// NULL where the layout lacks the label.
const LabelledDim* find(const Layout& layout, int label);

// Whether a label is summed over where `out` is the result.
bool sums(const Layout& layout, const Layout& out);

// Whether each operand is stretched along labels of the other.
bool is_outer(const Layout& layout_a, const Layout& layout_b);

// The dimensions of whole numbers.
Layout without_part(const Layout& layout);

// Those, as they lie.
Layout in_memory_order(const Layout& layout);

Shape sizes_of(const Layout& layout);
double elements_of(const Layout& layout);

// The elements of a tensor that lies as `layout` says, as a view whose dimensions are `dims`, in their order and with
// their sizes. Those that the layout lacks are stretched.
TensorRef view_as(const Tensor& tensor, const Layout& layout, const Layout& dims);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_LAYOUT_H_
