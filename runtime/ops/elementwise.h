// Operators of kind `elementwise`: the results have the shape that the operands broadcast to.
#ifndef ONEFLOW_OPS_ELEMENTWISE_H_
#define ONEFLOW_OPS_ELEMENTWISE_H_

#include "dispatch/call.h"

namespace oneflow {

// Runs a kernel that computes each element from the elements of the operands at the same index.
void run_elementwise(Call& call);
// Like run_elementwise(), by the kernel with compute type `compute`.
void run_elementwise(Call& call, of_dtype compute);
// Copies the argument that may be on another device to the result.
void run_copy(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_ELEMENTWISE_H_
