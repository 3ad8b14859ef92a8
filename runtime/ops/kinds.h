// How each kind of operator runs: infers the results' shapes and dtypes, allocates them, and calls a kernel, a view
// function or other operators. The generated schemas point here.
#ifndef ONEFLOW_OPS_KINDS_H_
#define ONEFLOW_OPS_KINDS_H_

#include "dispatch/call.h"

namespace oneflow {

void run_elementwise(Call& call);
void run_generator(Call& call);
void run_reduction(Call& call);
void run_scan(Call& call);
void run_gather(Call& call);
void run_view(Call& call);
void run_composite(Call& call);
void run_contraction(Call& call);  // in einsum/

}  // namespace oneflow

#endif  // ONEFLOW_OPS_KINDS_H_
