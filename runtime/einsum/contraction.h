// Operators of kind `contraction`: matmul, einsum, tensordot and others.
#ifndef ONEFLOW_EINSUM_CONTRACTION_H_
#define ONEFLOW_EINSUM_CONTRACTION_H_

#include "dispatch/call.h"

namespace oneflow {

// Runs a contraction: plans its stages, or looks up the plan of an earlier call, and runs them in order.
void run_contraction(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_EINSUM_CONTRACTION_H_
