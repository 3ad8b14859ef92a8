// Where the equation of a contraction operator comes from.
#ifndef ONEFLOW_EINSUM_RULES_H_
#define ONEFLOW_EINSUM_RULES_H_

#include "dispatch/call.h"
#include "einsum/equation.h"

namespace oneflow::einsum {

// The equation of a call: the record's own, the one in the argument that the record names, or the one that the rule
// which it names writes for these operands. Errors as in equation.h, or in the operator's own words.
Equation equation_of(const Call& call, std::span<const Tensor* const> operands);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_RULES_H_
