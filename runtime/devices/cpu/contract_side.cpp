#include "contract_side.h"

#include <algorithm>
#include <cstdlib>

#include "scratch.h"

namespace oneflow::cpu {
namespace {

// Panels that are packed at once, where there are enough for all threads.
constexpr int64_t kGroup = 32;
// Half a panel matters in blocks of fewer than these.
constexpr int64_t kFewPanels = 16;
// A dimension is worth turning from this size on, and an operand: a smaller one stays in the caches.
constexpr int64_t kWorthTurning = 8, kLeastElements = int64_t{1} << 20;
// Squares are as wide as the widest vector; the innermost dimension is cut where it is longer than this.
constexpr int64_t kSquare = 16, kLongest = 96;

// The part of a dimension that blocks have: the divisor that fills its squares best, the least of those, so that a
// block reaches far along the operand. 0 where there is none.
int64_t part_of(int64_t size) {
  int64_t best = 0;
  for (int64_t part = std::min(size, kLongest); part >= kWorthTurning; --part) {
    if (size % part != 0) continue;
    if (best == 0 || round_up(part, kSquare) * best <= round_up(best, kSquare) * part) best = part;
  }
  return best;
}

}  // namespace

bool turn(DimGroup& group, Operand operand, const DimGroup& depth) {
  if (group.count * depth.count < kLeastElements) return false;
  if (group.rank < 2 || group.rank == DimGroup::kMaximum) return false;
  if (depth.rank > 0 && depth.dims[depth.rank - 1].strides[operand] == 1) return false;
  const int last = group.rank - 1;
  int across = -1;
  for (int d = 0; d < last; ++d)
    if (group.dims[d].strides[operand] == 1 && group.dims[d].size >= kWorthTurning) across = d;
  if (across < 0 || group.dims[last].size < kWorthTurning) return false;
  const int64_t inner = part_of(group.dims[last].size);
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
    : group_(group), operand_(operand), kernels_(kernels), widest_(widest), pads_(pads), is_turned_(is_turned) {
  if (!is_turned) {
    // Blocks are whole panels, or vectors where they are few: threads should have as much to do as each other.
    unit_ = pads && block < kFewPanels * widest ? kernels.lane_count : widest;
    units_ = divide_up(group.count, unit_);
    blocks_ = std::min(units_, divide_up(group.count, block));
    return;
  }
  along_ = group.dims[group.rank - 1].size;
  for (int d = group.rank - 2; d >= 0 && group.dims[d].strides[operand] == across_; --d) across_ *= group.dims[d].size;
  const int64_t outer = group.count / (across_ * along_);
  const int64_t cuts = divide_up(across_, std::max(kSquare, block / along_));
  block_across_ = cuts > 1 ? round_up(divide_up(across_, cuts), kSquare) : across_;
  block_outer_ = cuts > 1 ? 1 : std::clamp<int64_t>(block / (across_ * along_), 1, outer);
  blocks_ = divide_up(outer, block_outer_) * divide_up(across_, block_across_);
}

Range Side::block(int64_t i) const {
  if (!is_turned_) {
    const Range units = part(units_, i, blocks_);
    const int64_t begin = units.begin * unit_;
    return {begin, std::min(units.count * unit_, group_.count - begin)};
  }
  const int64_t cuts = divide_up(across_, block_across_);
  const int64_t outer = i / cuts * block_outer_, across = i % cuts * block_across_;
  if (cuts > 1) return {(outer * across_ + across) * along_, std::min(block_across_, across_ - across) * along_};
  const int64_t row = across_ * along_;
  return {outer * row, std::min(block_outer_ * row, group_.count - outer * row)};
}

int64_t Side::find_runs(const Range& block, int64_t most, Range* runs) const {
  int64_t count = 0;
  if (is_turned_) {
    const int64_t first = block.begin / along_, end = first + block.count / along_;
    const int64_t stride = group_.dims[group_.rank - 1].strides[operand_];
    for (int64_t line = first, length; line < end; line += length) {
      length = std::min(end - line, across_ - line % across_);
      if (count + along_ > most) return 0;
      const int64_t start = offset_at(group_, operand_, line * along_);
      for (int64_t i = 0; i < along_; ++i) runs[count++] = {start + i * stride, length};
    }
    return count;
  }
  const Scratch memory(block.count * static_cast<int64_t>(sizeof(int64_t)));
  auto* offsets = static_cast<int64_t*>(memory.data());
  if (offsets == nullptr) return 0;
  fill_offsets(block, offsets);
  for (int64_t row = 0; row < block.count; ++row) {
    if (row > 0 && offsets[row] == offsets[row - 1] + 1) {
      ++runs[count - 1].count;
    } else {
      if (count == most) return 0;
      runs[count++] = {offsets[row], 1};
    }
  }
  return count;
}

Panels Side::panels(int64_t count, int64_t depth, bool parallel) const {
  // The room behind each panel is what packing may spill; it also keeps panels from falling on the same cache sets.
  const int64_t steps = divide_up(depth, kernels_.depths_together);
  const int64_t bytes = round_up(widest_ * steps * kernels_.size, 64) + kernels_.rows * kernels_.size;
  const int64_t panels = divide_up(count, widest_);
  const int64_t group = parallel ? std::clamp<int64_t>(panels / (4 * thread_count()), 1, kGroup) : kGroup;
  return {count, panels, bytes, pads_ ? widest_ : 0, group};
}

void Side::fill_table(const Range& block, const Panels& panels, int64_t* table) const {
  if (!is_turned_) return fill_offsets(block, table);
  // Where each row goes, from one depth to the next, and how many rows from it on its panel has.
  int64_t *places = table, *widths = table + block.count, *left = widths + block.count;
  for (int64_t i = 0; i < panels.count; ++i) {
    const int64_t start = panels.start(i), rows = panels.rows(i);
    for (int64_t row = 0; row < rows; ++row) {
      places[start + row] = i * (panels.bytes / kernels_.size) + row;
      widths[start + row] = panels.width(i);
      left[start + row] = rows - row;
    }
  }
}

int64_t Side::tasks(const Range& block, const Panels& panels) const {
  if (!is_turned_) return divide_up(panels.count, panels.group);
  return divide_up(block.count / along_, TurnedSource::kMostLines) * divide_up(along_, kernels_.lane_count);
}

void Side::pack(int64_t task, const Range& block, const Panels& panels, const int64_t* table, of_dtype dtype,
                const char* data, const DepthWalk& depth, char* packed) const {
  if (!is_turned_) {
    const int64_t first = task * panels.group;
    return kernels_.pack(dtype, {data, table, depth}, panels, first, std::min(first + panels.group, panels.count),
                         packed);
  }
  const int64_t lines = block.count / along_, pieces = divide_up(along_, kernels_.lane_count);
  const int64_t first = task / pieces * TurnedSource::kMostLines;
  const int64_t end = std::min(first + TurnedSource::kMostLines, lines);
  const int64_t piece = task % pieces * kernels_.lane_count;
  const int64_t stride = group_.dims[group_.rank - 1].strides[operand_];
  for (int64_t line = first; line < end;) {
    // Lines of one outer position lie next to each other.
    const int64_t position = block.begin / along_ + line;
    const int64_t count = std::min(end - line, across_ - position % across_);
    const int64_t start = offset_at(group_, operand_, position * along_) + piece * stride;
    const TurnedSource source{data,   start,  count,        std::min(kernels_.lane_count, along_ - piece),
                              stride, along_, depth.offsets};
    const int64_t row = line * along_ + piece;
    kernels_.pack_turned({source, table + row, table + block.count + row, table + 2 * block.count + row}, depth.count,
                         packed);
    line += count;
  }
  if (!pads_ || end < lines || piece > 0) return;
  const int64_t last = panels.count - 1;
  kernels_.clear(packed + last * panels.bytes, panels.rows(last), panels.width(last), depth.count);
}

}  // namespace oneflow::cpu
