#include "fold_block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

#include "strided.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Lanes that are a block are about so many, or as many as a buffer holds. (256 x 1,000 x 12 along the middle: 160 us
// rather than 1,250, 100 x 32 x 512 x 12 along the first and third: 3,600 rather than 22,800, 10^6 along every second:
// 54 rather than 300.)
constexpr int64_t kBlockLanes = 512, kLeastLanes = 128;
// Merging them pays from so many rows on, where lines of folded elements are good ones as they are from so many; not in
// tensors of few elements. Dimensions that are longer make good lanes by themselves: kept ones, and folded ones.
constexpr int64_t kLeastRows = 3, kGoodLine = 32, kLeastRowsOfLines = 8;
constexpr int64_t kLeastElements = 4096, kLongKept = 64, kLongFolded = 256;

// The most neighbouring kept elements that are folded together.
constexpr int64_t kMostTogether = 8;

bool is_folded(uint32_t reduced, int32_t d) { return (reduced >> d & 1) != 0; }

// The dimensions of more than one element, the innermost first.
std::vector<int32_t> by_stride(const of_kernel_tensor& input) {
  std::vector<int32_t> dims;
  for (int32_t d = input.rank - 1; d >= 0; --d)
    if (input.sizes[d] > 1) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(),
                   [&](int32_t x, int32_t y) { return std::abs(input.strides[x]) < std::abs(input.strides[y]); });
  return dims;
}

// The innermost dimensions, the innermost of all first, of which the elements lie next to each other, and how much of
// each is in the block: all of it, but perhaps of the last one.
struct Inner {
  std::vector<int32_t> dims;
  std::vector<int64_t> sizes;
  int64_t lanes = 1;
};

Inner find_inner(const of_kernel_tensor& input, const std::vector<int32_t>& dims) {
  Inner inner;
  for (const int32_t d : dims) {
    const bool is_cut = inner.lanes * input.sizes[d] > kKeptLanes;
    if (input.strides[d] != inner.lanes || (is_cut && 2 * inner.lanes > kBlockLanes)) break;
    inner.dims.push_back(d);
    inner.sizes.push_back(is_cut ? even_part(input.sizes[d], kBlockLanes / inner.lanes, 1) : input.sizes[d]);
    inner.lanes *= inner.sizes.back();
    if (is_cut) break;
  }
  return inner;
}

// The lanes in an order in which those of folded dimensions come first; empty: they are in it.
std::vector<int64_t> folded_first(const Inner& inner, uint32_t reduced) {
  std::vector<int64_t> order = {0};
  for (const bool folded : {false, true}) {
    int64_t stride = 1;
    for (size_t i = 0; i < inner.dims.size(); stride *= inner.sizes[i++]) {
      if (is_folded(reduced, inner.dims[i]) != folded) continue;
      const size_t count = order.size();
      for (int64_t k = 1; k < inner.sizes[i]; ++k)
        for (size_t j = 0; j < count; ++j) order.push_back(order[j] + k * stride);
    }
  }
  return std::is_sorted(order.begin(), order.end()) ? std::vector<int64_t>() : order;
}

// The rows of the plan, of which the lanes are these, and its units.
void lay_out(const of_kernel_tensor& input, uint32_t reduced, const std::vector<int32_t>& dims, const Inner& inner,
             FoldPlan& plan) {
  const int32_t last = inner.dims.back();
  const int64_t part = inner.sizes.back(), parts = divide_up(input.sizes[last], part);
  const int64_t last_lanes = (input.sizes[last] - (parts - 1) * part) * input.strides[last];
  const bool has_rows = parts > 1 && is_folded(reduced, last), has_stretches = parts > 1 && !has_rows;
  int32_t row_dim = has_rows ? last : -1;
  for (size_t i = inner.dims.size(); i < dims.size() && row_dim < 0; ++i)
    if (is_folded(reduced, dims[i])) row_dim = dims[i];
  plan.lanes = inner.lanes;
  plan.last_lanes = has_stretches ? last_lanes : plan.lanes;
  plan.block.rest = has_rows ? last_lanes : plan.lanes;
  plan.stretches = has_stretches ? parts : 1;
  plan.rows_per_line = has_rows ? parts : row_dim < 0 ? 1 : input.sizes[row_dim];
  plan.row_stride = row_dim < 0 ? 0 : input.strides[row_dim] * (has_rows ? part : 1);
  plan.folded_count = 1;
  for (int32_t d = 0; d < input.rank; ++d) {
    if (is_folded(reduced, d)) plan.folded_count *= input.sizes[d];
    if (d == row_dim || std::find(inner.dims.begin(), inner.dims.end(), d) != inner.dims.end()) continue;
    (is_folded(reduced, d) ? plan.lines : plan.kept).add(d, input.sizes[d]);
  }
  plan.depth = plan.together = plan.lane_stride = 1;
  plan.result_lane_dim = plan.together_dim = -1;
}

}  // namespace

int64_t even_part(int64_t size, int64_t most, int64_t unit) {
  return size <= most ? size : round_up(divide_up(size, divide_up(size, most)), unit);
}

bool is_interleaved(const of_kernel_tensor& input, int32_t folded, int32_t kept) {
  if (kept < 0) return false;
  const int64_t size = input.sizes[kept];
  return size <= kMostTogether && std::has_single_bit(static_cast<uint64_t>(size)) && input.strides[kept] == 1 &&
         input.strides[folded] == size;
}

std::optional<FoldPlan> plan_block(const of_kernel_tensor& input, uint32_t reduced) {
  if (element_count({input.rank, input.sizes, input.strides}) < kLeastElements) return std::nullopt;
  const std::vector<int32_t> dims = by_stride(input);
  if (dims.size() < 2 || input.sizes[dims[0]] >= (is_folded(reduced, dims[0]) ? kLongFolded : kLongKept))
    return std::nullopt;
  if (!is_folded(reduced, dims[0]) && is_folded(reduced, dims[1]) && is_interleaved(input, dims[1], dims[0]))
    return std::nullopt;
  const Inner inner = find_inner(input, dims);
  if (inner.lanes < kLeastLanes) return std::nullopt;
  FoldPlan plan{};
  int64_t line = 1;  // folded elements next to each other
  for (size_t i = 0; i < inner.dims.size() && is_folded(reduced, inner.dims[i]); ++i) line *= inner.sizes[i];
  for (size_t i = inner.dims.size(); i-- > 0;)
    if (!is_folded(reduced, inner.dims[i])) plan.block.kept.add(inner.dims[i], inner.sizes[i]);
  plan.block.folded = inner.lanes / plan.block.kept_lanes();
  if (plan.block.folded == 1 || plan.block.kept.rank == 0) return std::nullopt;
  lay_out(input, reduced, dims, inner, plan);
  if (plan.rows() < (line < kGoodLine ? kLeastRows : kLeastRowsOfLines)) return std::nullopt;
  plan.block.order = folded_first(inner, reduced);
  return plan;
}

}  // namespace oneflow::cpu
