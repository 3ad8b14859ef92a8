#include "contract/gemm/depth.h"

#include <algorithm>

#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// The smallest dimensions for which rectangles pay, and about how long a rectangle is along the innermost dimension.
constexpr int64_t kMinRectangle = 8, kRectangleLength = 32;

// Returns the dimension of the depth along which an operand is contiguous, where it is contiguous neither along its
// rows nor along the innermost dimension of the depth; -1: none.
int crossing_dim(const DimGroup& depth, const DimGroup& side, Operand operand) {
  const int last = depth.rank - 1;
  if (last < 1 || depth.dims[last].size < kMinRectangle || depth.dims[last].strides[operand] == 1) return -1;
  for (int d = 0; d < side.rank; ++d)
    if (side.dims[d].strides[operand] == 1) return -1;
  for (int d = 0; d < last; ++d)
    if (depth.dims[d].strides[operand] == 1 && depth.dims[d].size >= kMinRectangle) return d;
  return -1;
}

}  // namespace

Depth::Depth(const Problem& problem, int64_t most) : group_(problem.depth) {
  const int last = group_.rank - 1;
  for (const Operand operand : {kA, kB}) {
    const int dim = crossing_dim(group_, operand == kA ? problem.rows : problem.columns, operand);
    if (dim < 0) continue;
    crossing_operand_ = operand;
    std::rotate(group_.dims + dim, group_.dims + dim + 1, group_.dims + last);
    const int64_t inner = group_.dims[last].size, crossing = group_.dims[last - 1].size;
    inner_parts_ = divide_up(inner, kRectangleLength);
    crossing_parts_ = divide_up(crossing, std::max<int64_t>(1, most / divide_up(inner, inner_parts_)));
    blocks_ = group_.count / (inner * crossing) * inner_parts_ * crossing_parts_;
    most_ = divide_up(inner, inner_parts_) * divide_up(crossing, crossing_parts_);
    return;
  }
  blocks_ = std::max<int64_t>(1, divide_up(group_.count, most));
  most_ = divide_up(group_.count, blocks_);
}

Depth::Rectangle Depth::rectangle(int64_t block) const {
  const Dim &crossing = group_.dims[group_.rank - 2], &inner = group_.dims[group_.rank - 1];
  const int64_t rest = block / inner_parts_;
  return {rest / crossing_parts_, part(crossing.size, rest % crossing_parts_, crossing_parts_),
          part(inner.size, block % inner_parts_, inner_parts_)};
}

DepthTable Depth::fill_table(int64_t block, Operand operand, int64_t* memory, bool in_panel_order) const {
  const bool is_crossing = operand == crossing_operand_ && !in_panel_order;
  int64_t *offsets = memory, *runs = memory + most_, *positions = runs + most_;
  int64_t count = 0;
  if (crossing_operand_ == kC) {
    const Range indices = part(group_.count, block, blocks_);
    count = indices.count;
    fill_offsets(group_, operand, indices.begin, count, offsets);
  } else {
    const Rectangle indices = rectangle(block);
    const Dim &crossing = group_.dims[group_.rank - 2], &inner = group_.dims[group_.rank - 1];
    const int64_t first = (indices.outer * crossing.size + indices.crossing.begin) * inner.size + indices.inner.begin;
    const int64_t start = offset_at(group_, operand, first);
    const auto visit = [&](int64_t i, int64_t j) {
      offsets[count] = start + i * crossing.strides[operand] + j * inner.strides[operand];
      positions[count++] = i * indices.inner.count + j;
    };
    if (is_crossing) {
      for (int64_t j = 0; j < indices.inner.count; ++j)
        for (int64_t i = 0; i < indices.crossing.count; ++i) visit(i, j);
    } else {
      for (int64_t i = 0; i < indices.crossing.count; ++i)
        for (int64_t j = 0; j < indices.inner.count; ++j) visit(i, j);
    }
  }
  fill_runs(offsets, count, runs);
  return {count, offsets, runs, is_crossing ? positions : nullptr};
}

}  // namespace oneflow::cpu
