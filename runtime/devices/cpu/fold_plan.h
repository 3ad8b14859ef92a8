// How the elements of a reduction are laid out as rows of lanes.
#ifndef ONEFLOW_DEVICES_CPU_FOLD_PLAN_H_
#define ONEFLOW_DEVICES_CPU_FOLD_PLAN_H_

#include <oneflow/device_plugin.h>

#include <cstdint>
#include <vector>

namespace oneflow::cpu {

// Some dimensions of a tensor, walked in row-major order.
struct Walk {
  int32_t rank = 0;
  int32_t dims[OF_MAX_RANK];
  int64_t sizes[OF_MAX_RANK];

  void add(int32_t dim, int64_t size);
  int64_t count() const;
  // Where the walk is at a position, by the strides of all dimensions of a tensor.
  int64_t offset(int64_t position, const int64_t* strides) const;
};

// Lanes that are a block of dimensions: see below.
struct FoldBlock {
  Walk kept;                   // the kept dimensions of a block, the last of them the innermost one
  int64_t folded = 0;          // how many lanes merge to each that is left; 0: lanes are not a block
  int64_t rest = 0;            // lanes of the last row of a line
  std::vector<int64_t> order;  // the lanes in an order in which folded dimensions come first; empty: they are in it

  int64_t kept_lanes() const { return kept.count(); }
};

// A reduction is made of units, each with a state of its own. A unit has lines, a line has rows, a row has lanes. Lanes
// are one of
//   kept: a unit is a stretch of a kept dimension, one lane for each element, and the last stretch may be shorter
//   kept and deep: the same, but in each row a lane has several folded elements, `depth` of them
//   merged: a unit is one kept element, each line is one row, and its lanes are all positions of a folded dimension
//   merged late: the same, where lines are short and many: a state of as many lanes is kept for all of them
//   a block: all elements of the innermost dimensions, kept and folded ones, that fill the operand's memory. The lanes
//   of a unit's state merge late, too. The outermost of these dimensions may be cut: into rows if it is folded, of
//   which the last one may be shorter, or into stretches.
// A few kept elements that lie between the folded ones, as the parts of complex numbers do, are folded together: where
// a lane or a unit is one kept element above, it is so many of them.
struct FoldPlan {
  bool merges_lanes, merges_late;  // not both
  int64_t lanes;                   // of all units but the last stretch
  int64_t last_lanes;              // of the last stretch
  int64_t stretches;               // units along the kept dimension that lanes stand for; 1 when lanes merge
  int64_t depth;                   // 1 unless lanes are deep
  int64_t together;                // mostly 1
  int64_t rows_per_line;
  int64_t row_stride, lane_stride, depth_stride;  // of the input
  int64_t row_index, lane_index, depth_index;     // of positions within the folded dimensions
  int64_t result_lane_dim;                        // the kept dimension that lanes stand for; -1 when they merge
  int64_t together_dim;                           // that of the elements folded together; -1 without
  Walk lines;                                     // folded dimensions
  Walk kept;                                      // kept dimensions
  int64_t positions[OF_MAX_RANK];                 // strides of the folded dimensions in their own row-major order
  int64_t folded_count;                           // elements that go into one result
  FoldBlock block;

  int64_t units() const { return kept.count() * stretches; }
  int64_t rows() const { return lines.count() * rows_per_line; }
};

// The plan for a reduction over the marked dimensions. `converts`: elements are folded in another type; `uses_index`:
// with their positions. No size is zero.
FoldPlan plan_fold(const of_kernel_tensor& input, uint32_t reduced, bool converts, bool uses_index);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_FOLD_PLAN_H_
