// What a contraction's equation and arguments, and the layouts and dtypes of its tensors, decide.
#ifndef ONEFLOW_EINSUM_PLAN_H_
#define ONEFLOW_EINSUM_PLAN_H_

#include "dispatch/call.h"
#include "einsum/stage.h"

namespace oneflow::einsum {

struct Plan {
  Shape shape;                    // of the result
  of_dtype dtype;                 // of the result
  of_dtype working;               // that stages compute in: half precision with intermediates is kept in float32
  bool sums_nothing;              // whether a label of size 0 is summed: there are no stages then
  Labels output;                  // the labels of the result's dimensions
  std::vector<bool> conversions;  // which inputs are of another dtype
  std::vector<Stage> stages;      // the last one writes the result, which lies without gaps
};

// The tensors that a call multiplies, in the order of the equation: all but the one that is added.
std::vector<const Tensor*> inputs_of(const Call& call);

// Errors of equation.h, rules.h, sizes.h and path.h, and those of dtypes.
Plan make_plan(const Call& call);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PLAN_H_
