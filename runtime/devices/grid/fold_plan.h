// Plans how reductions and scans are distributed over work-items.
#ifndef ONEFLOW_DEVICES_GRID_FOLD_PLAN_H_
#define ONEFLOW_DEVICES_GRID_FOLD_PLAN_H_

#include "driver.h"
#include "kernels/fold_layout.h"
#include "space.h"

namespace oneflow::grid {

// A selection of a tensor's dimensions, the slowest-varying first. In a layout it has at least one: a dimension -1 of
// size 1 where there is no other.
struct Dims {
  int32_t rank = 0;
  int64_t sizes[OF_MAX_RANK];
  int32_t dims[OF_MAX_RANK];

  void add(int32_t dim, int64_t size);
  // Moves a dimension to the end, where it is the fastest-varying one.
  void make_last(int32_t dim);
  int64_t count() const;
};

// The strides of a tensor in the order of a selection of its dimensions.
struct DimStrides {
  DimStrides(const Dims& dims, const int64_t* all);
  int64_t list[OF_MAX_RANK];
};

// The division of a tensor's dimensions into kept and folded ones, and the choice of the dimension along which
// work-items have their lanes: the last one of `folded` or of `kept`.
struct FoldLayout {
  FoldLayout(const of_kernel_tensor& input, uint32_t reduced, uint32_t min_lane_size);

  bool is_lines;  // whether the lanes are folded elements
  Dims kept, folded;
};

// Returns the kernel for a tensor with the lanes of a layout.
Handle kernel_for(const FoldRun& run, const FoldLayout& layout, const of_kernel_tensor& tensor,
                  const Variants& variants);

// A launch that folds a piece of the elements into a piece of the results.
struct FoldPlan {
  of_fold fold;
  uint32_t groups, splits;
};
// Plans a fold. The caller sets the strides, the positions, `count` and `first_split`.
FoldPlan plan_fold(const FoldRun& run, const FoldLayout& layout, const of_space& kept, const of_space& folded,
                   bool is_packed);

// A launch that scans a piece of the lines along the folded dimension of a layout.
struct ScanPlan {
  of_scan scan;
  uint32_t groups, chunks;
};
// Plans a scan. The caller sets the strides, `only_folds` and `packs_results`.
ScanPlan plan_scan(const FoldRun& run, const FoldLayout& layout, const of_space& kept, bool is_packed);

// A launch that merges the states of splits.
struct MergePlan {
  of_merge merge;
  Geometry geometry;
};
MergePlan plan_merge(const FoldRun& run, const of_space& kept, uint32_t splits, int64_t count);

// Returns whether one access can load or store all lanes of an item: the tensor has unit stride along the dimension of
// the lanes, and both `data` and the tensor's other strides are aligned to `lanes` elements.
bool has_packets(const FoldLayout& layout, const of_kernel_tensor& tensor, const void* data, uint32_t lanes);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_FOLD_PLAN_H_
