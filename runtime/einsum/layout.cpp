#include "einsum/layout.h"

#include <algorithm>
#include <cstdlib>

namespace oneflow::einsum {

Layout lay_out(const Labels& labels, Sizes sizes, Sizes strides, of_dtype dtype) {
  const int64_t parts = is_complex(dtype) ? 2 : 1;
  Layout layout;
  layout.reserve(labels.size() + 1);
  for (size_t d = 0; d < labels.size(); ++d) {
    if (sizes[d] == 1) continue;
    const auto known =
        std::find_if(layout.begin(), layout.end(), [&](const LabelledDim& dim) { return dim.label == labels[d]; });
    if (known == layout.end()) {
      layout.push_back({labels[d], sizes[d], strides[d] * parts});
    } else {
      known->stride += strides[d] * parts;
    }
  }
  if (parts > 1) layout.push_back({kPart, parts, 1});
  return layout;
}

Layout contiguous_layout(Layout layout) {
  const Shape sizes = sizes_of(layout);
  count_elements(sizes);  // throws if the number of elements overflows
  const Shape strides = contiguous_strides(sizes);
  for (size_t d = 0; d < layout.size(); ++d) layout[d].stride = strides[static_cast<int>(d)];
  return layout;
}

const LabelledDim* find(const Layout& layout, int label) {
  for (const LabelledDim& dim : layout)
    if (dim.label == label) return &dim;
  return nullptr;
}

bool sums(const Layout& layout, const Layout& out) {
  return std::any_of(layout.begin(), layout.end(), [&](const LabelledDim& dim) { return !find(out, dim.label); });
}

bool is_outer(const Layout& layout_a, const Layout& layout_b) {
  return sums(layout_a, layout_b) && sums(layout_b, layout_a);
}

Layout without_part(const Layout& layout) {
  Layout dims;
  for (const LabelledDim& dim : layout)
    if (dim.label != kPart) dims.push_back(dim);
  return dims;
}

Layout in_memory_order(const Layout& layout) {
  Layout dims = without_part(layout);
  std::stable_sort(dims.begin(), dims.end(),
                   [](const LabelledDim& x, const LabelledDim& y) { return std::abs(x.stride) > std::abs(y.stride); });
  return dims;
}

Shape sizes_of(const Layout& layout) {
  Shape sizes;
  for (const LabelledDim& dim : layout) sizes.push_back(dim.size);
  return sizes;
}

double elements_of(const Layout& layout) {
  double elements = 1;
  for (const LabelledDim& dim : layout) elements *= static_cast<double>(dim.size);
  return elements;
}

TensorRef view_as(const Tensor& tensor, const Layout& layout, const Layout& dims) {
  Shape sizes, strides;
  for (const LabelledDim& dim : dims) {
    const LabelledDim* own = find(layout, dim.label);
    sizes.push_back(dim.size);
    strides.push_back(own ? own->stride : 0);
  }
  return Tensor::view(tensor, sizes, strides, tensor.offset());
}

}  // namespace oneflow::einsum
