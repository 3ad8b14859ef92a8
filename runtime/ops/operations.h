// The operations of calls whose records have scalar expressions: those for one element, times the elements.
#ifndef ONEFLOW_OPS_OPERATIONS_H_
#define ONEFLOW_OPS_OPERATIONS_H_

#include "dispatch/call.h"

namespace oneflow {

// Counts the operations of a call that computes each element of its results.
double operations_of_result(const Call& call);
// Counts the operations of a call that folds the elements of its first argument.
double operations_of_input(const Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_OPERATIONS_H_
