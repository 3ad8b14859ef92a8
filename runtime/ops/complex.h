// Calls with complex tensors, for operators whose kind works on real numbers.
#ifndef ONEFLOW_OPS_COMPLEX_H_
#define ONEFLOW_OPS_COMPLEX_H_

#include "dispatch/call.h"

namespace oneflow {

// Runs the operator on real views that have the parts as an additional dimension.
void run_by_parts(Call& call);
// Converts all operands to one complex dtype, and evaluates the expression in the record's column `complex`.
void run_complex_body(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_COMPLEX_H_
