// Operators of the kinds `reduction` and `scan`: folds of elements along dimensions.
#ifndef ONEFLOW_OPS_FOLD_H_
#define ONEFLOW_OPS_FOLD_H_

#include "dispatch/dimension_map.h"

namespace oneflow {

// Members hold positions of arguments; -1: there is none.
struct ReductionRule {
  int dims_argument = -1;  // the dimensions to reduce; -1: all
  int keepdim_argument = -1;
  bool allows_empty = true;  // whether the reduced dimensions may have no elements
};

struct ScanRule {
  int dim_argument;
};

void run_reduction(Call& call);
// Reduces the parts of complex numbers separately.
void run_reduction_by_parts(Call& call);
void run_scan(Call& call);

// Kept dimensions are the same; the others are folded.
void reduction_dimensions(Call& call, const Shape& result, DimensionMap& map);
void scan_dimensions(Call& call, const Shape& result, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_FOLD_H_
