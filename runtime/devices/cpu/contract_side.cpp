#include "contract_side.h"

#include <algorithm>
#include <cstdlib>

namespace oneflow::cpu {
namespace {

// A dimension is worth turning from this size on.
constexpr int64_t kWorthTurning = 8;
// A block has squares of so many across; the innermost dimension is cut where it is longer than this.
constexpr int64_t kSquare = 16, kLongest = 96;

// The greatest divisor of a size within [least, most]; 0 where there is none.
int64_t divisor_of(int64_t size, int64_t least, int64_t most) {
  for (int64_t divisor = std::min(size, most); divisor >= least; --divisor)
    if (size % divisor == 0) return divisor;
  return 0;
}

}  // namespace

bool turn(DimGroup& group, Operand operand, const DimGroup& depth) {
  if (group.rank < 2 || group.rank == DimGroup::kMaximum) return false;
  if (depth.rank > 0 && depth.dims[depth.rank - 1].strides[operand] == 1) return false;
  const int last = group.rank - 1;
  int across = -1;
  for (int d = 0; d < last; ++d)
    if (group.dims[d].strides[operand] == 1 && group.dims[d].size >= kWorthTurning) across = d;
  if (across < 0 || group.dims[last].size < kWorthTurning) return false;
  const int64_t inner =
      group.dims[last].size <= kLongest ? group.dims[last].size : divisor_of(group.dims[last].size, kSquare, kLongest);
  if (inner == 0) return false;
  const Dim turned = group.dims[across];
  std::move(group.dims + across + 1, group.dims + last, group.dims + across);
  group.dims[last - 1] = turned;
  if (inner < group.dims[last].size) {  // what is left of the innermost one goes in front of both
    Dim outer = group.dims[last], rest = group.dims[last];
    outer.size /= inner;
    for (int64_t& stride : outer.strides) stride *= inner;
    rest.size = inner;
    group.dims[last - 1] = outer;
    group.dims[last] = turned;
    group.dims[last + 1] = rest;
    ++group.rank;
  }
  // Blocks follow each other as the operand lies: what one finds in the caches and page tables serves the next.
  std::stable_sort(group.dims, group.dims + group.rank - 2, [&](const Dim& x, const Dim& y) {
    return std::abs(x.strides[operand]) > std::abs(y.strides[operand]);
  });
  return true;
}

Side::Side(const DimGroup& group, Operand operand, const ContractKernels& kernels, int64_t widest, bool pads,
           int64_t block, bool is_turned)
    : group_(group),
      operand_(operand),
      kernels_(kernels),
      widest_(widest),
      pads_(pads),
      is_turned_(is_turned),
      blocks_(std::max<int64_t>(1, divide_up(group.count, block))),
      block_(block) {
  if (!is_turned) return;
  across_ = group.dims[group.rank - 2].size;
  along_ = group.dims[group.rank - 1].size;
  const int64_t outer = group.count / (across_ * along_);
  block_across_ = std::min(across_, std::max(kSquare, block / along_ / kSquare * kSquare));
  block_outer_ = block_across_ < across_ ? 1 : std::clamp<int64_t>(block / (across_ * along_), 1, outer);
  blocks_ = divide_up(outer, block_outer_) * divide_up(across_, block_across_);
}

Range Side::block(int64_t i) const {
  if (!is_turned_) return {i * block_, std::min(block_, group_.count - i * block_)};
  const int64_t cuts = divide_up(across_, block_across_);
  const int64_t outer = i / cuts * block_outer_, across = i % cuts * block_across_;
  if (cuts > 1) return {(outer * across_ + across) * along_, std::min(block_across_, across_ - across) * along_};
  const int64_t row = across_ * along_;
  return {outer * row, std::min(block_outer_ * row, group_.count - outer * row)};
}

Panels Side::panels(int64_t count, int64_t depth) const {
  // The room behind each panel is what packing may spill; it also keeps panels from falling on the same cache sets.
  const int64_t bytes = divide_up(widest_ * depth * kernels_.size, 64) * 64 + kernels_.rows * kernels_.size;
  return {count, divide_up(count, widest_), bytes, pads_ ? widest_ : 0};
}

void Side::fill_table(const Range& block, const Panels& panels, int64_t* table) const {
  if (!is_turned_) return fill_offsets(group_, operand_, block.begin, block.count, table);
  // Where each row goes, from one depth to the next, and how many rows from it on its panel has.
  int64_t *places = table, *widths = table + block.count, *left = widths + block.count;
  for (int64_t i = 0; i < panels.count; ++i) {
    const int64_t start = panels.start(i), width = panels.width(i);
    for (int64_t row = 0; row < width; ++row) {
      places[start + row] = i * (panels.bytes / kernels_.size) + row;
      widths[start + row] = pads_ ? widest_ : width;
      left[start + row] = width - row;
    }
  }
}

int64_t Side::tasks(const Range& block, const Panels& panels) const {
  return is_turned_ ? divide_up(block.count / along_, kSquare) : panels.count;
}

void Side::pack(int64_t task, const Range& block, const Panels& panels, const int64_t* table, of_dtype dtype,
                const char* data, const int64_t* depth_offsets, const int64_t* depth_runs, int64_t depth,
                char* packed) const {
  if (!is_turned_) {
    const int64_t width = panels.width(task);
    const PanelSource source{data, table + panels.start(task), depth_offsets, depth_runs};
    return kernels_.pack(dtype, source, width, pads_ ? widest_ : width, depth, packed + task * panels.bytes);
  }
  const int64_t lines = block.count / along_, first = task * kSquare, end = std::min(first + kSquare, lines);
  const int64_t stride = group_.dims[group_.rank - 1].strides[operand_];
  for (int64_t line = first; line < end;) {
    // Lines of one outer position lie next to each other.
    const int64_t position = block.begin / along_ + line;
    const int64_t count = std::min(end - line, across_ - position % across_);
    const TurnedSource source{data,         offset_at(group_, operand_, position * along_), count, along_, stride,
                              depth_offsets};
    const int64_t row = line * along_;
    kernels_.pack_turned({source, table + row, table + block.count + row, table + 2 * block.count + row}, depth,
                         packed);
    line += count;
  }
  if (!pads_ || end < lines) return;
  const int64_t last = panels.count - 1, width = panels.width(last);
  if (width < widest_) kernels_.clear(packed + last * panels.bytes, width, widest_, depth);
}

}  // namespace oneflow::cpu
