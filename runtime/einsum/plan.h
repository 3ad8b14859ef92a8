// What a contraction's equation, arguments and shapes alone decide, worked out once and kept.
#ifndef ONEFLOW_EINSUM_PLAN_H_
#define ONEFLOW_EINSUM_PLAN_H_

#include <memory>

#include "dispatch/call.h"
#include "einsum/path.h"
#include "einsum/sizes.h"

namespace oneflow::einsum {

struct Plan {
  Equation equation;
  Shape shape;             // of the result
  std::vector<Step> path;  // empty for a single operand
  bool has_intermediates;  // whether anything is rounded before the result is
  bool sums_nothing;       // whether a label of size 0 is summed
};

// The plan of a call over these operands; `names` as in sizes.h. Errors of equation.h, rules.h and sizes.h.
//
// Each thread keeps the plans of its last calls: working one out takes microseconds, finding one a tenth of that.
std::shared_ptr<const Plan> plan_for(const Call& call, std::span<const Tensor* const> operands, OperandNames names);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PLAN_H_
