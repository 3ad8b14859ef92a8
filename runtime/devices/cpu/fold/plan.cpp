#include "fold/plan.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "copy/rows.h"
#include "fold/block.h"
#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// The maximum depth of deep columns; the minimum depth if there are several rows, so that each of them is read
// sequentially; and the approximate number of elements of a row.
constexpr int64_t kMaxDepth = 4096, kMinDepth = 48, kDeepRow = 32 * 1024;
// With fewer contiguous folded elements than this, merging columns takes longer than transposing them.
constexpr int64_t kMinMerged = 16;
// Columns merge late for at least kMinLines lines of at most kMergedLate elements.
constexpr int64_t kMergedLate = 512, kMinLines = 8;
// With fewer contiguous kept elements than this, rows are too short to fill vectors.
constexpr int64_t kMinKept = 16;
// Columns are then along a longer kept dimension, if its stride is at most this. With larger strides, packing the
// columns takes longer than it saves.
constexpr int64_t kMaxColumnStride = 64;

// Returns the dimension with the smallest stride among those of at least `least` elements whose bit in `mask` equals
// `marked`; -1 if there is none.
int32_t innermost(const of_kernel_tensor& input, uint32_t mask, bool marked, int64_t least = 2) {
  int32_t best = -1;
  for (int32_t d = input.rank - 1; d >= 0; --d) {
    if (((mask >> d & 1) != 0) != marked || input.sizes[d] < least) continue;
    if (best < 0 || std::abs(input.strides[d]) < std::abs(input.strides[best])) best = d;
  }
  return best;
}

// Returns whether columns along the innermost folded dimension, which merge, are faster than kept columns.
bool is_better_merged(const of_kernel_tensor& input, int32_t folded, int32_t kept) {
  if (folded < 0) return false;
  if (kept < 0) return true;
  if (std::abs(input.strides[folded]) < std::abs(input.strides[kept])) {
    return input.sizes[folded] >= kMinMerged;
  }
  return input.sizes[kept] < kMinKept && input.sizes[folded] >= kMinMerged;
}

// Returns whether columns are deep: elements of the dimension `kept`, with the dimension `folded` as their depth. The
// strides of all other folded dimensions must be larger than that of the columns.
bool has_deep_columns(const of_kernel_tensor& input, uint32_t reduced, bool converts, int32_t folded, int32_t kept,
                      int64_t interleaved) {
  const int64_t most = converts || input.strides[folded] != interleaved ? kChunk : kMaxDepth;
  if (kept < 0 || input.sizes[folded] * interleaved > most) return false;
  for (int32_t d = 0; d < input.rank; ++d) {
    if ((reduced >> d & 1) == 0 || d == folded || input.sizes[d] == 1) continue;
    if (input.sizes[folded] < kMinDepth || std::abs(input.strides[d]) < std::abs(input.strides[kept])) return false;
  }
  return true;
}

// Returns whether columns are along the kept dimension `long_kept`, because the innermost kept dimension is too short.
bool has_strided_columns(const of_kernel_tensor& input, bool merges, int32_t innermost_kept, int32_t long_kept) {
  return !merges && long_kept >= 0 && input.sizes[innermost_kept] < kMinKept &&
         std::abs(input.strides[long_kept]) <= kMaxColumnStride;
}

// Returns whether there are so many lines of so few elements that merging the columns of each line would take most of
// the time.
bool has_short_lines(const of_kernel_tensor& input, uint32_t reduced, int32_t folded, int64_t interleaved) {
  int64_t lines = 1;
  for (int32_t d = 0; d < input.rank; ++d)
    if ((reduced >> d & 1) != 0 && d != folded) lines *= input.sizes[d];
  const bool is_dense = interleaved > 1 || std::abs(input.strides[folded]) <= kMaxPackedStride;
  return input.sizes[folded] * interleaved <= kMergedLate && lines >= kMinLines && is_dense;
}

}  // namespace

void Walk::add(int32_t dim, int64_t size) {
  dims[rank] = dim;
  sizes[rank] = size;
  ++rank;
}

int64_t Walk::count() const {
  int64_t product = 1;
  for (int32_t i = 0; i < rank; ++i) product *= sizes[i];
  return product;
}

int64_t Walk::offset(int64_t position, const int64_t* strides) const {
  int64_t offset = 0;
  for (int32_t i = rank - 1; i >= 0; --i) {
    offset += (i == 0 ? position : position % sizes[i]) * strides[dims[i]];
    position /= sizes[i];
  }
  return offset;
}

FoldPlan plan_fold(const of_kernel_tensor& input, uint32_t reduced, bool converts, bool uses_index) {
  if (auto block = uses_index ? std::nullopt : plan_block(input, reduced)) return *std::move(block);
  FoldPlan plan{};
  const int32_t innermost_folded = innermost(input, reduced, true), innermost_kept = innermost(input, reduced, false);
  const bool merges = is_better_merged(input, innermost_folded, innermost_kept);
  plan.interleaved_dim =
      merges && !uses_index && is_interleaved(input, innermost_folded, innermost_kept) ? innermost_kept : -1;
  plan.interleaved = plan.interleaved_dim < 0 ? 1 : input.sizes[plan.interleaved_dim];
  const int32_t long_kept = innermost(input, reduced, false, kMinKept);
  const bool is_deep =
      merges && has_deep_columns(input, reduced, converts, innermost_folded, long_kept, plan.interleaved);
  plan.merges_late = merges && !is_deep && has_short_lines(input, reduced, innermost_folded, plan.interleaved);
  plan.merges_columns = merges && !is_deep && !plan.merges_late;
  const int32_t column_dim = is_deep || has_strided_columns(input, merges, innermost_kept, long_kept) ? long_kept
                             : merges                                                                 ? innermost_folded
                                                                                                      : innermost_kept;
  const int32_t depth_dim = is_deep ? innermost_folded : -1;

  plan.folded_count = 1;
  int32_t row_dim = -1;  // the folded dimension along which rows are; -1 if each line is one row
  for (int32_t d = input.rank - 1; d >= 0; --d) {
    if ((reduced >> d & 1) == 0) continue;
    plan.positions[d] = plan.folded_count;
    plan.folded_count *= input.sizes[d];
    const bool is_free = d != column_dim && d != depth_dim && input.sizes[d] != 1;
    if (row_dim < 0 && !plan.merges_columns && is_free) row_dim = d;
  }

  plan.depth = is_deep ? input.sizes[depth_dim] : 1;
  plan.depth_stride = is_deep ? input.strides[depth_dim] : 0;
  plan.depth_index = is_deep ? plan.positions[depth_dim] : 0;
  const int64_t column_dim_size = column_dim < 0 ? 1 : input.sizes[column_dim];
  const int64_t most = (is_deep ? std::min(kDeepRow / plan.depth, kMaxColumns) : kMaxColumns) / plan.interleaved;
  plan.column_stride = column_dim < 0 ? 1 : input.strides[column_dim];
  plan.columns = plan.merges_columns ? column_dim_size : even_part(column_dim_size, most, is_deep ? 1 : kMinKept);
  plan.slices = divide_up(column_dim_size, plan.columns);
  plan.last_columns = column_dim_size - (plan.slices - 1) * plan.columns;
  plan.result_column_dim = merges && !is_deep ? -1 : column_dim;
  if (merges && !is_deep) plan.column_index = plan.positions[column_dim];
  plan.rows_per_line = row_dim < 0 ? 1 : input.sizes[row_dim];
  plan.row_stride = row_dim < 0 ? 0 : input.strides[row_dim];
  plan.row_index = row_dim < 0 ? 0 : plan.positions[row_dim];
  for (int32_t d = 0; d < input.rank; ++d) {
    if (d == column_dim || d == row_dim || d == depth_dim || d == plan.interleaved_dim) continue;
    ((reduced >> d & 1) != 0 ? plan.lines : plan.kept).add(d, input.sizes[d]);
  }
  return plan;
}

}  // namespace oneflow::cpu
