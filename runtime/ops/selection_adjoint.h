// The gradient of operators whose results are elements of an argument: views, gathers, indexing.
#ifndef ONEFLOW_OPS_SELECTION_ADJOINT_H_
#define ONEFLOW_OPS_SELECTION_ADJOINT_H_

#include "dispatch/adjoint_rule.h"
#include "dispatch/call.h"

namespace oneflow {

// Adds each element of the gradient to the element of the argument that was selected, where zeros were before.
void run_selection_adjoint(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_SELECTION_ADJOINT_H_
