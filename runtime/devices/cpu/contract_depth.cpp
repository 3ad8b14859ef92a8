#include "contract_depth.h"

#include <algorithm>

#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// A dimension is worth a rectangle from this size on; one side of it is about as long as this.
constexpr int64_t kWorthwhile = 8, kAlong = 32;

// The dimension of the depth along which an operand's memory runs, where neither its rows nor the innermost depth do;
// -1: none.
int crossing_dim(const DimGroup& depth, const DimGroup& side, Operand operand) {
  const int last = depth.rank - 1;
  if (last < 1 || depth.dims[last].size < kWorthwhile || depth.dims[last].strides[operand] == 1) return -1;
  for (int d = 0; d < side.rank; ++d)
    if (side.dims[d].strides[operand] == 1) return -1;
  for (int d = 0; d < last; ++d)
    if (depth.dims[d].strides[operand] == 1 && depth.dims[d].size >= kWorthwhile) return d;
  return -1;
}

}  // namespace

Depth::Depth(const Problem& problem, int64_t most) : group_(problem.depth) {
  const int last = group_.rank - 1;
  for (const Operand operand : {kA, kB}) {
    const int dim = crossing_dim(group_, operand == kA ? problem.rows : problem.columns, operand);
    if (dim < 0) continue;
    crossing_ = operand;
    std::rotate(group_.dims + dim, group_.dims + dim + 1, group_.dims + last);
    const int64_t along = group_.dims[last].size, across = group_.dims[last - 1].size;
    along_parts_ = divide_up(along, kAlong);
    across_parts_ = divide_up(across, std::max<int64_t>(1, most / divide_up(along, along_parts_)));
    blocks_ = group_.count / (along * across) * along_parts_ * across_parts_;
    most_ = divide_up(along, along_parts_) * divide_up(across, across_parts_);
    return;
  }
  blocks_ = std::max<int64_t>(1, divide_up(group_.count, most));
  most_ = divide_up(group_.count, blocks_);
}

Depth::Rectangle Depth::rectangle(int64_t block) const {
  const Dim &across = group_.dims[group_.rank - 2], &along = group_.dims[group_.rank - 1];
  const int64_t rest = block / along_parts_;
  return {rest / across_parts_, part(across.size, rest % across_parts_, across_parts_),
          part(along.size, block % along_parts_, along_parts_)};
}

DepthWalk Depth::walk(int64_t block, Operand operand, int64_t* table, bool in_order) const {
  const bool runs_across = operand == crossing_ && !in_order;
  int64_t *offsets = table, *runs = table + most_, *places = runs + most_;
  int64_t count = 0;
  if (crossing_ == kC) {
    const Range now = part(group_.count, block, blocks_);
    count = now.count;
    fill_offsets(group_, operand, now.begin, count, offsets);
  } else {
    const Rectangle now = rectangle(block);
    const Dim &across = group_.dims[group_.rank - 2], &along = group_.dims[group_.rank - 1];
    const int64_t first = (now.outer * across.size + now.across.begin) * along.size + now.along.begin;
    const int64_t start = offset_at(group_, operand, first);
    const auto visit = [&](int64_t i, int64_t j) {
      offsets[count] = start + i * across.strides[operand] + j * along.strides[operand];
      places[count++] = i * now.along.count + j;
    };
    if (runs_across) {
      for (int64_t j = 0; j < now.along.count; ++j)
        for (int64_t i = 0; i < now.across.count; ++i) visit(i, j);
    } else {
      for (int64_t i = 0; i < now.across.count; ++i)
        for (int64_t j = 0; j < now.along.count; ++j) visit(i, j);
    }
  }
  fill_runs(offsets, count, runs);
  return {count, offsets, runs, runs_across ? places : nullptr};
}

}  // namespace oneflow::cpu
