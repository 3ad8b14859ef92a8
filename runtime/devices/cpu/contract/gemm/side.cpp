#include "contract/gemm/side.h"

#include <algorithm>
#include <cstdlib>

#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// The most panels of one packing task.
constexpr int64_t kGroup = 32;
// In blocks of fewer panels, half a panel makes the blocks noticeably uneven.
constexpr int64_t kFewPanels = 16;
// The smallest dimensions and operands for which transposed packing pays: smaller operands stay in the caches.
constexpr int64_t kMinTransposedSize = 8, kMinTransposedElements = int64_t{1} << 20;
// The size of the squares, that of the widest vector; and the most elements of a part of the innermost dimension.
constexpr int64_t kSquare = 16, kMaxPart = 96;

// Returns the size of the parts into which an innermost dimension is split: the divisor that pads its squares least,
// and of equal ones the smallest, so that a block extends far along the contiguous dimension. 0 where there is none.
int64_t split_size(int64_t size) {
  int64_t best = 0;
  for (int64_t part = std::min(size, kMaxPart); part >= kMinTransposedSize; --part) {
    if (size % part != 0) continue;
    if (best == 0 || round_up(part, kSquare) * best <= round_up(best, kSquare) * part) best = part;
  }
  return best;
}

}  // namespace

bool order_for_transposing(DimGroup& group, Operand operand, const DimGroup& depth) {
  if (group.count * depth.count < kMinTransposedElements) return false;
  if (group.rank < 2 || group.rank == DimGroup::kMaximum) return false;
  if (depth.rank > 0 && depth.dims[depth.rank - 1].strides[operand] == 1) return false;
  const int last = group.rank - 1;
  int contiguous = -1;
  for (int d = 0; d < last; ++d)
    if (group.dims[d].strides[operand] == 1 && group.dims[d].size >= kMinTransposedSize) contiguous = d;
  if (contiguous < 0 || group.dims[last].size < kMinTransposedSize) return false;
  const int64_t inner = split_size(group.dims[last].size);
  if (inner == 0) return false;
  const Dim moved = group.dims[contiguous];
  std::move(group.dims + contiguous + 1, group.dims + last, group.dims + contiguous);
  group.dims[last - 1] = moved;
  if (inner < group.dims[last].size) {  // the outer part of the innermost dimension precedes both
    Dim outer = group.dims[last], rest = group.dims[last];
    outer.size /= inner;
    for (int64_t& stride : outer.strides) stride *= inner;
    rest.size = inner;
    group.dims[last - 1] = outer;
    group.dims[last] = moved;
    group.dims[last + 1] = rest;
    ++group.rank;
  }
  // Consecutive blocks are neighbours in the operand's memory, so that cache lines and page table entries are reused.
  std::stable_sort(group.dims, group.dims + group.rank - 2, [&](const Dim& x, const Dim& y) {
    return std::abs(x.strides[operand]) > std::abs(y.strides[operand]);
  });
  return true;
}

Side::Side(const DimGroup& group, Operand operand, const ContractKernels& kernels, int64_t widest, bool pads,
           int64_t block, bool is_transposed)
    : group_(group), operand_(operand), kernels_(kernels), widest_(widest), pads_(pads), is_transposed_(is_transposed) {
  if (!is_transposed) {
    // Blocks are multiples of a panel, or of a vector where there are few panels, to balance the load of threads.
    unit_ = pads && block < kFewPanels * widest ? kernels.lane_count : widest;
    units_ = divide_up(group.count, unit_);
    blocks_ = std::min(units_, divide_up(group.count, block));
    return;
  }
  strided_ = group.dims[group.rank - 1].size;
  for (int d = group.rank - 2; d >= 0 && group.dims[d].strides[operand] == contiguous_; --d)
    contiguous_ *= group.dims[d].size;
  const int64_t outer = group.count / (contiguous_ * strided_);
  const int64_t cuts = divide_up(contiguous_, std::max(kSquare, block / strided_));
  block_contiguous_ = cuts > 1 ? round_up(divide_up(contiguous_, cuts), kSquare) : contiguous_;
  block_outer_ = cuts > 1 ? 1 : std::clamp<int64_t>(block / (contiguous_ * strided_), 1, outer);
  blocks_ = divide_up(outer, block_outer_) * divide_up(contiguous_, block_contiguous_);
}

Range Side::block(int64_t i) const {
  if (!is_transposed_) {
    const Range units = part(units_, i, blocks_);
    const int64_t begin = units.begin * unit_;
    return {begin, std::min(units.count * unit_, group_.count - begin)};
  }
  const int64_t cuts = divide_up(contiguous_, block_contiguous_);
  const int64_t outer = i / cuts * block_outer_, first = i % cuts * block_contiguous_;
  if (cuts > 1)
    return {(outer * contiguous_ + first) * strided_, std::min(block_contiguous_, contiguous_ - first) * strided_};
  const int64_t row = contiguous_ * strided_;
  return {outer * row, std::min(block_outer_ * row, group_.count - outer * row)};
}

int64_t Side::find_runs(const Range& block, int64_t most, Range* runs) const {
  int64_t count = 0;
  if (is_transposed_) {
    const int64_t first = block.begin / strided_, end = first + block.count / strided_;
    const int64_t stride = group_.dims[group_.rank - 1].strides[operand_];
    for (int64_t line = first, length; line < end; line += length) {
      length = std::min(end - line, contiguous_ - line % contiguous_);
      if (count + strided_ > most) return 0;
      const int64_t start = offset_at(group_, operand_, line * strided_);
      for (int64_t i = 0; i < strided_; ++i) runs[count++] = {start + i * stride, length};
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
  // The memory behind each panel takes what packing writes past its end. It also keeps panels from mapping to the same
  // cache sets.
  const int64_t steps = divide_up(depth, kernels_.depths_per_element);
  const int64_t bytes = round_up(widest_ * steps * kernels_.size, 64) + kernels_.rows * kernels_.size;
  const int64_t panels = divide_up(count, widest_);
  const int64_t group = parallel ? std::clamp<int64_t>(panels / (4 * thread_count()), 1, kGroup) : kGroup;
  return {count, panels, bytes, pads_ ? widest_ : 0, group};
}

void Side::fill_table(const Range& block, const Panels& panels, int64_t* table) const {
  if (!is_transposed_) return fill_offsets(block, table);
  int64_t *positions = table, *widths = table + block.count, *remaining = widths + block.count;
  for (int64_t i = 0; i < panels.count; ++i) {
    const int64_t start = panels.start(i), rows = panels.rows(i);
    for (int64_t row = 0; row < rows; ++row) {
      positions[start + row] = i * (panels.bytes / kernels_.size) + row;
      widths[start + row] = panels.width(i);
      remaining[start + row] = rows - row;
    }
  }
}

int64_t Side::tasks(const Range& block, const Panels& panels) const {
  if (!is_transposed_) return divide_up(panels.count, panels.group);
  return divide_up(block.count / strided_, TransposedSource::kMaxContiguous) * divide_up(strided_, kernels_.lane_count);
}

void Side::pack(int64_t task, const Range& block, const Panels& panels, const int64_t* table, of_dtype dtype,
                const char* data, const DepthTable& depth, char* packed) const {
  if (!is_transposed_) {
    const int64_t first = task * panels.group;
    return kernels_.pack(dtype, {data, table, depth}, panels, first, std::min(first + panels.group, panels.count),
                         packed);
  }
  const int64_t lines = block.count / strided_, pieces = divide_up(strided_, kernels_.lane_count);
  const int64_t first = task / pieces * TransposedSource::kMaxContiguous;
  const int64_t end = std::min(first + TransposedSource::kMaxContiguous, lines);
  const int64_t piece = task % pieces * kernels_.lane_count;
  const int64_t stride = group_.dims[group_.rank - 1].strides[operand_];
  for (int64_t line = first; line < end;) {
    // Up to `contiguous_` lines of the same outer index are contiguous.
    const int64_t position = block.begin / strided_ + line;
    const int64_t count = std::min(end - line, contiguous_ - position % contiguous_);
    const int64_t start = offset_at(group_, operand_, position * strided_) + piece * stride;
    const TransposedSource source{data,   start,    count,        std::min(kernels_.lane_count, strided_ - piece),
                                  stride, strided_, depth.offsets};
    const int64_t row = line * strided_ + piece;
    kernels_.pack_transposed({source, table + row, table + block.count + row, table + 2 * block.count + row},
                             depth.count, packed);
    line += count;
  }
  if (!pads_ || end < lines || piece > 0) return;
  const int64_t last = panels.count - 1;
  kernels_.zero_rows(packed + last * panels.bytes, panels.rows(last), panels.width(last), depth.count);
}

}  // namespace oneflow::cpu
