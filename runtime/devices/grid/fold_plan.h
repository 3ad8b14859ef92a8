// How a fold is laid over work-items.
#ifndef ONEFLOW_DEVICES_GRID_FOLD_PLAN_H_
#define ONEFLOW_DEVICES_GRID_FOLD_PLAN_H_

#include "driver.h"
#include "kernels/fold_layout.h"
#include "space.h"

namespace oneflow::grid {

// Some dimensions of a tensor, the slowest first. There is always one.
struct Dims {
  int32_t rank = 0;
  int64_t sizes[OF_MAX_RANK];
  int32_t dims[OF_MAX_RANK];

  void add(int32_t dim, int64_t size);
  // The dimension becomes the fastest one.
  void make_last(int32_t dim);
  int64_t count() const;
};

// The strides of a tensor in the order of some dimensions.
struct DimStrides {
  DimStrides(const Dims& dims, const int64_t* all);
  int64_t list[OF_MAX_RANK];
};

// Which dimensions are kept and which are folded, and which of them has lanes.
struct FoldLayout {
  FoldLayout(const of_kernel_tensor& input, uint32_t reduced, uint32_t neighbours);

  bool is_lines;  // lanes are folded elements
  Dims kept, folded;
};

// The kernel for a tensor with such lanes.
Handle kernel_for(const FoldRun& run, const FoldLayout& layout, const of_kernel_tensor& tensor,
                  const Variants& variants);

// A fold of a piece of the elements into a piece of the results.
struct FoldPlan {
  of_fold fold;
  uint32_t groups, splits;
};
// What is set is all but the strides and where among states and positions the piece is.
FoldPlan plan_fold(const FoldRun& run, const FoldLayout& layout, const of_space& kept, const of_space& folded,
                   bool is_packed);

// A scan along the folded dimension of a layout; a piece of the lines.
struct ScanPlan {
  of_scan scan;
  uint32_t groups, chunks;
};
// What is set is all but strides, and whether results are packed.
ScanPlan plan_scan(const FoldRun& run, const FoldLayout& layout, const of_space& kept, bool is_packed);

// How states are merged.
struct MergePlan {
  of_merge merge;
  Geometry geometry;
};
MergePlan plan_merge(const FoldRun& run, const of_space& kept, uint32_t splits, int64_t count);

// Whether lanes that are neighbours in the dimension behind all others, by some strides of the tensor, begin where one
// access may.
bool has_packets(const FoldLayout& layout, const of_kernel_tensor& tensor, const void* data, uint32_t lanes);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_FOLD_PLAN_H_
