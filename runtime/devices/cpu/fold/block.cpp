#include "fold/block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

#include "copy/strided.h"
#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// A block has about kBlockColumns columns if one of its dimensions is cut, else at most as many as a buffer holds; and
// at least kMinColumns.
constexpr int64_t kBlockColumns = 512, kMinColumns = 128;
// The minimum number of rows for which merging the columns of a block pays off: kMinRowsOfLines if it has kGoodLine or
// more contiguous folded elements, which are good columns as well; kMinRows otherwise. Tensors of fewer than
// kMinElements elements have no blocks, nor have innermost dimensions that are kept, of at least kLongKept elements, or
// folded, of at least kLongFolded elements: these make good columns by themselves.
constexpr int64_t kMinRows = 3, kGoodLine = 32, kMinRowsOfLines = 8;
constexpr int64_t kMinElements = 4096, kLongKept = 64, kLongFolded = 256;

// The maximum number of interleaved kept elements.
constexpr int64_t kMaxInterleaved = 8;

bool is_folded(uint32_t reduced, int32_t d) { return (reduced >> d & 1) != 0; }

// Returns the dimensions of more than one element by increasing stride.
std::vector<int32_t> by_stride(const of_kernel_tensor& input) {
  std::vector<int32_t> dims;
  for (int32_t d = input.rank - 1; d >= 0; --d)
    if (input.sizes[d] > 1) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(),
                   [&](int32_t x, int32_t y) { return std::abs(input.strides[x]) < std::abs(input.strides[y]); });
  return dims;
}

// The dimensions of a block, innermost first, which are contiguous together, and their sizes in the block: those of the
// tensor, except that the last one may be cut.
struct Inner {
  std::vector<int32_t> dims;
  std::vector<int64_t> sizes;
  int64_t columns = 1;
};

Inner find_inner(const of_kernel_tensor& input, const std::vector<int32_t>& dims) {
  Inner inner;
  for (const int32_t d : dims) {
    const bool is_cut = inner.columns * input.sizes[d] > kMaxColumns;
    if (input.strides[d] != inner.columns || (is_cut && 2 * inner.columns > kBlockColumns)) break;
    inner.dims.push_back(d);
    inner.sizes.push_back(is_cut ? even_part(input.sizes[d], kBlockColumns / inner.columns, 1) : input.sizes[d]);
    inner.columns *= inner.sizes.back();
    if (is_cut) break;
  }
  return inner;
}

// Returns the columns of a block in an order with the folded dimensions outermost, so that columns of equal kept
// elements merge; empty if they are in that order.
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

// Sets the columns, rows and units of a plan for the block `inner`.
void lay_out(const of_kernel_tensor& input, uint32_t reduced, const std::vector<int32_t>& dims, const Inner& inner,
             FoldPlan& plan) {
  const int32_t last = inner.dims.back();
  const int64_t part = inner.sizes.back(), parts = divide_up(input.sizes[last], part);
  const int64_t last_columns = (input.sizes[last] - (parts - 1) * part) * input.strides[last];
  const bool has_rows = parts > 1 && is_folded(reduced, last), has_slices = parts > 1 && !has_rows;
  int32_t row_dim = has_rows ? last : -1;
  for (size_t i = inner.dims.size(); i < dims.size() && row_dim < 0; ++i)
    if (is_folded(reduced, dims[i])) row_dim = dims[i];
  plan.columns = inner.columns;
  plan.last_columns = has_slices ? last_columns : plan.columns;
  plan.block.last_row_columns = has_rows ? last_columns : plan.columns;
  plan.slices = has_slices ? parts : 1;
  plan.rows_per_line = has_rows ? parts : row_dim < 0 ? 1 : input.sizes[row_dim];
  plan.row_stride = row_dim < 0 ? 0 : input.strides[row_dim] * (has_rows ? part : 1);
  plan.folded_count = 1;
  for (int32_t d = 0; d < input.rank; ++d) {
    if (is_folded(reduced, d)) plan.folded_count *= input.sizes[d];
    if (d == row_dim || std::find(inner.dims.begin(), inner.dims.end(), d) != inner.dims.end()) continue;
    (is_folded(reduced, d) ? plan.lines : plan.kept).add(d, input.sizes[d]);
  }
  plan.depth = plan.interleaved = plan.column_stride = 1;
  plan.result_column_dim = plan.interleaved_dim = -1;
}

}  // namespace

int64_t even_part(int64_t size, int64_t most, int64_t unit) {
  return size <= most ? size : round_up(divide_up(size, divide_up(size, most)), unit);
}

bool is_interleaved(const of_kernel_tensor& input, int32_t folded, int32_t kept) {
  if (kept < 0) return false;
  const int64_t size = input.sizes[kept];
  return size <= kMaxInterleaved && std::has_single_bit(static_cast<uint64_t>(size)) && input.strides[kept] == 1 &&
         input.strides[folded] == size;
}

std::optional<FoldPlan> plan_block(const of_kernel_tensor& input, uint32_t reduced) {
  if (element_count({input.rank, input.sizes, input.strides}) < kMinElements) return std::nullopt;
  const std::vector<int32_t> dims = by_stride(input);
  if (dims.size() < 2 || input.sizes[dims[0]] >= (is_folded(reduced, dims[0]) ? kLongFolded : kLongKept))
    return std::nullopt;
  if (!is_folded(reduced, dims[0]) && is_folded(reduced, dims[1]) && is_interleaved(input, dims[1], dims[0]))
    return std::nullopt;
  const Inner inner = find_inner(input, dims);
  if (inner.columns < kMinColumns) return std::nullopt;
  FoldPlan plan{};
  int64_t line = 1;  // the number of contiguous folded elements
  for (size_t i = 0; i < inner.dims.size() && is_folded(reduced, inner.dims[i]); ++i) line *= inner.sizes[i];
  for (size_t i = inner.dims.size(); i-- > 0;)
    if (!is_folded(reduced, inner.dims[i])) plan.block.kept.add(inner.dims[i], inner.sizes[i]);
  plan.block.folded = inner.columns / plan.block.kept_columns();
  if (plan.block.folded == 1 || plan.block.kept.rank == 0) return std::nullopt;
  lay_out(input, reduced, dims, inner, plan);
  if (plan.rows() < (line < kGoodLine ? kMinRows : kMinRowsOfLines)) return std::nullopt;
  plan.block.order = folded_first(inner, reduced);
  return plan;
}

}  // namespace oneflow::cpu
