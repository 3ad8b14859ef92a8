// The functions that generators' `sizes` and gathers' result sizes may use.
#ifndef ONEFLOW_OPS_SIZE_FUNCTIONS_H_
#define ONEFLOW_OPS_SIZE_FUNCTIONS_H_

#include <oneflow/types.h>

#include "base/shape.h"
#include "tensor/tensor.h"

namespace oneflow {

// How many numbers lie between start (included) and end (not included), `step` apart. InvalidArgument for a step of
// zero or in the wrong direction.
int64_t range_length(const of_scalar& start, const of_scalar& end, const of_scalar& step);

// {n, m}; NONE for m means n.
Shape pair(int64_t n, const of_value& m);

// `sizes`, for random integers from `low` up to `high`, not included: InvalidArgument where there are none, or `dtype`
// does not have all of them.
Shape sizes_for_range(Sizes sizes, int64_t low, int64_t high, const of_value& dtype);

inline int64_t numel(const Tensor& tensor) { return tensor.count(); }

}  // namespace oneflow

#endif  // ONEFLOW_OPS_SIZE_FUNCTIONS_H_
