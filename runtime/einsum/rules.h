// The equations of contraction operators.
#ifndef ONEFLOW_EINSUM_RULES_H_
#define ONEFLOW_EINSUM_RULES_H_

#include "dispatch/call.h"
#include "einsum/equation.h"

namespace oneflow::einsum {

// Returns the equation of a call: the one in the record, the value of an argument that the record names, or the one
// that a rule named by the record generates for the operands. Throws the errors of equation.h, or those of the rule.
Equation equation_of(const Call& call, std::span<const Tensor* const> operands);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_RULES_H_
