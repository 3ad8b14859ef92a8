#include "fold_plan.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "fold_block.h"
#include "rows.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Lines of at most so many folded elements may be the depth of lanes; of at least so many where there are several rows,
// which are then read in order (ijk->j of 128 x 256 x 256: 0.72 of the time). A row has about so many elements.
constexpr int64_t kMostDepth = 4096, kLeastDepth = 48, kDeepRow = 32 * 1024;
// Below this many neighbouring folded elements, merging lanes costs more than copying them into the other order.
constexpr int64_t kWorthMerging = 16;
// Of so many lines of at most so many elements, the lanes merge only once.
constexpr int64_t kMergedLate = 512, kManyLines = 8;
// Below this many neighbouring kept elements, rows are too short to fill vectors.
constexpr int64_t kWorthKeeping = 16;
// Lanes of another kept dimension then lie up to so far apart (100,000 x 3 x 2 along the middle: 260 us rather than
// 8,370, 30,000 x 6 x 5 750 rather than 1,800; 10,000 x 12 x 12 would take twice as long).
constexpr int64_t kFarLanes = 64;

// The dimension among the (un)marked ones whose elements are nearest to each other; -1 when none has so many.
int32_t nearest(const of_kernel_tensor& input, uint32_t mask, bool marked, int64_t least = 2) {
  int32_t best = -1;
  for (int32_t d = input.rank - 1; d >= 0; --d) {
    if (((mask >> d & 1) != 0) != marked || input.sizes[d] < least) continue;
    if (best < 0 || std::abs(input.strides[d]) < std::abs(input.strides[best])) best = d;
  }
  return best;
}

bool is_better_merged(const of_kernel_tensor& input, int32_t folded, int32_t kept) {
  if (folded < 0) return false;
  if (kept < 0) return true;
  if (std::abs(input.strides[folded]) < std::abs(input.strides[kept])) {
    return input.sizes[folded] >= kWorthMerging;
  }
  return input.sizes[kept] < kWorthKeeping && input.sizes[folded] >= kWorthMerging;
}

// Whether lanes are kept elements and the folded dimension is their depth: where they are nearer to each other than
// what else is folded.
bool has_deep_lanes(const of_kernel_tensor& input, uint32_t reduced, bool converts, int32_t folded, int32_t kept,
                    int64_t together) {
  const int64_t most = converts || input.strides[folded] != together ? kChunk : kMostDepth;
  if (kept < 0 || input.sizes[folded] * together > most) return false;
  for (int32_t d = 0; d < input.rank; ++d) {
    if ((reduced >> d & 1) == 0 || d == folded || input.sizes[d] == 1) continue;
    if (input.sizes[folded] < kLeastDepth || std::abs(input.strides[d]) < std::abs(input.strides[kept])) return false;
  }
  return true;
}

// Whether lanes are elements of a kept dimension that is not the nearest one, which is short.
bool has_far_lanes(const of_kernel_tensor& input, bool merges, int32_t nearest_kept, int32_t long_kept) {
  return !merges && long_kept >= 0 && input.sizes[nearest_kept] < kWorthKeeping &&
         std::abs(input.strides[long_kept]) <= kFarLanes;
}

// Whether there are so many lines of so few elements that merging the lanes of each would be most of the work.
bool has_short_lines(const of_kernel_tensor& input, uint32_t reduced, int32_t folded, int64_t together) {
  int64_t lines = 1;
  for (int32_t d = 0; d < input.rank; ++d)
    if ((reduced >> d & 1) != 0 && d != folded) lines *= input.sizes[d];
  const bool is_near = together > 1 || std::abs(input.strides[folded]) <= kNearStep;
  return input.sizes[folded] * together <= kMergedLate && lines >= kManyLines && is_near;
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
  const int32_t nearest_folded = nearest(input, reduced, true), nearest_kept = nearest(input, reduced, false);
  const bool merges = is_better_merged(input, nearest_folded, nearest_kept);
  plan.together_dim = merges && !uses_index && is_interleaved(input, nearest_folded, nearest_kept) ? nearest_kept : -1;
  plan.together = plan.together_dim < 0 ? 1 : input.sizes[plan.together_dim];
  const int32_t long_kept = nearest(input, reduced, false, kWorthKeeping);
  const bool is_deep = merges && has_deep_lanes(input, reduced, converts, nearest_folded, long_kept, plan.together);
  plan.merges_late = merges && !is_deep && has_short_lines(input, reduced, nearest_folded, plan.together);
  plan.merges_lanes = merges && !is_deep && !plan.merges_late;
  const int32_t lane_dim = is_deep || has_far_lanes(input, merges, nearest_kept, long_kept) ? long_kept
                           : merges                                                         ? nearest_folded
                                                                                            : nearest_kept;
  const int32_t depth_dim = is_deep ? nearest_folded : -1;

  plan.folded_count = 1;
  int32_t row_dim = -1;  // unless each line is one row: the folded dimension that rows go along
  for (int32_t d = input.rank - 1; d >= 0; --d) {
    if ((reduced >> d & 1) == 0) continue;
    plan.positions[d] = plan.folded_count;
    plan.folded_count *= input.sizes[d];
    const bool is_free = d != lane_dim && d != depth_dim && input.sizes[d] != 1;
    if (row_dim < 0 && !plan.merges_lanes && is_free) row_dim = d;
  }

  plan.depth = is_deep ? input.sizes[depth_dim] : 1;
  plan.depth_stride = is_deep ? input.strides[depth_dim] : 0;
  plan.depth_index = is_deep ? plan.positions[depth_dim] : 0;
  const int64_t lane_size = lane_dim < 0 ? 1 : input.sizes[lane_dim];
  const int64_t most = (is_deep ? std::min(kDeepRow / plan.depth, kKeptLanes) : kKeptLanes) / plan.together;
  plan.lane_stride = lane_dim < 0 ? 1 : input.strides[lane_dim];
  plan.lanes = plan.merges_lanes ? lane_size : even_part(lane_size, most, is_deep ? 1 : kWorthKeeping);
  plan.stretches = divide_up(lane_size, plan.lanes);
  plan.last_lanes = lane_size - (plan.stretches - 1) * plan.lanes;
  plan.result_lane_dim = merges && !is_deep ? -1 : lane_dim;
  if (merges && !is_deep) plan.lane_index = plan.positions[lane_dim];
  plan.rows_per_line = row_dim < 0 ? 1 : input.sizes[row_dim];
  plan.row_stride = row_dim < 0 ? 0 : input.strides[row_dim];
  plan.row_index = row_dim < 0 ? 0 : plan.positions[row_dim];
  for (int32_t d = 0; d < input.rank; ++d) {
    if (d == lane_dim || d == row_dim || d == depth_dim || d == plan.together_dim) continue;
    ((reduced >> d & 1) != 0 ? plan.lines : plan.kept).add(d, input.sizes[d]);
  }
  return plan;
}

}  // namespace oneflow::cpu
