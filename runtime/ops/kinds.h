// How each kind of operator runs: infers the results' shapes and dtypes, allocates them, and calls a kernel, a view
// function or other operators. The generated schemas point here.
#ifndef ONEFLOW_OPS_KINDS_H_
#define ONEFLOW_OPS_KINDS_H_

#include "dispatch/call.h"

namespace oneflow {

void run_elementwise(Call& call);
void run_elementwise(Call& call, of_dtype compute);  // with kernels that compute in that type
void run_generator(Call& call);
void run_reduction(Call& call);
void run_scan(Call& call);
void run_gather(Call& call);
void run_view(Call& call);
void run_composite(Call& call);
void run_contraction(Call& call);  // in einsum/

// What a record says of complex tensors (complex.cpp). No kernel knows them.
void run_by_parts(Call& call);           // the same operator on tensors with the parts as another dimension
void run_complex_body(Call& call);       // an expression over other operators, for operands that are all complex
void run_complex_generator(Call& call);  // real numbers, made complex

}  // namespace oneflow

#endif  // ONEFLOW_OPS_KINDS_H_
