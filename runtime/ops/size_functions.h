// The functions that records may use in the `sizes` of a generator and in the result sizes of a gather.
#ifndef ONEFLOW_OPS_SIZE_FUNCTIONS_H_
#define ONEFLOW_OPS_SIZE_FUNCTIONS_H_

#include <oneflow/types.h>

#include "base/shape.h"
#include "ops/program_functions.h"

namespace oneflow {

// Returns the number of elements of the range from `start` (inclusive) to `end` (exclusive) in steps of `step`. Throws
// InvalidArgument for a step of zero or in the wrong direction.
int64_t range_length(const of_scalar& start, const of_scalar& end, const of_scalar& step);

// Returns {n, m}, or {n, n} if `m` is NONE.
Shape pair(int64_t n, const of_value& m);

// Returns `sizes`, the sizes of a tensor of random integers from `low` (inclusive) to `high` (exclusive). Throws
// InvalidArgument if the range is empty or `dtype` cannot represent all of it.
Shape sizes_for_range(Sizes sizes, int64_t low, int64_t high, const of_value& dtype);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_SIZE_FUNCTIONS_H_
