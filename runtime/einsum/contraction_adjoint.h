// The gradient of contractions.
#ifndef ONEFLOW_EINSUM_CONTRACTION_ADJOINT_H_
#define ONEFLOW_EINSUM_CONTRACTION_ADJOINT_H_

#include "dispatch/adjoint_rule.h"
#include "dispatch/call.h"

namespace oneflow {

// Contracts the gradient with the other operands, by the transposed equation. Example: the gradient of the first
// operand of ij,jk->ik comes from ik,jk->ij.
void run_contraction_adjoint(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_EINSUM_CONTRACTION_ADJOINT_H_
