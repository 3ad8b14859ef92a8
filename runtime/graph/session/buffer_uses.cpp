#include "graph/session/buffer_uses.h"

#include "base/dtype.h"

namespace oneflow::graph {

namespace {

struct Dim {
  int64_t size, stride;

  bool operator==(const Dim&) const = default;
};

// Returns the dimensions of an operand, without those of size 1, and merged where that is possible.
std::vector<Dim> merged_dims(const WorkOperand& operand) {
  std::vector<Dim> dims;
  for (int d = 0; d < operand.sizes.rank(); ++d) {
    const Dim dim{operand.sizes[d], operand.strides[d]};
    if (dim.size == 1) continue;
    if (!dims.empty() && dims.back().stride == dim.size * dim.stride)
      dims.back() = {dims.back().size * dim.size, dim.stride};
    else
      dims.push_back(dim);
  }
  return dims;
}

}  // namespace

std::vector<Interval> buffer_uses(const std::vector<Work>& works, size_t buffer_count) {
  std::vector<Interval> uses(buffer_count);
  for (size_t i = 0; i < works.size(); ++i)
    for_each_place(works[i], [&](const Place& place) {
      if (place.base == Base::kBuffer) uses[place.number].add(i);
    });
  return uses;
}

bool have_same_elements(const WorkOperand& a, const WorkOperand& b) {
  return a.place.offset == b.place.offset && dtype_size(a.dtype) == dtype_size(b.dtype) &&
         merged_dims(a) == merged_dims(b);
}

}  // namespace oneflow::graph
