// The functions that run the operators of each kind: they infer the shapes and dtypes of the results, allocate them,
// and call a kernel, a view function or other operators. The generated schemas point to them.
#ifndef ONEFLOW_OPS_KINDS_H_
#define ONEFLOW_OPS_KINDS_H_

#include "dispatch/call.h"

namespace oneflow {

void run_elementwise(Call& call);
void run_elementwise(Call& call, of_dtype compute);  // runs the kernel with compute type `compute`
void run_generator(Call& call);
void run_reduction(Call& call);
void run_scan(Call& call);
void run_gather(Call& call);
void run_view(Call& call);
void run_composite(Call& call);

// Run calls with complex tensors as the record's column `complex` says (complex.cpp).
void run_by_parts(Call& call);           // runs the operator on real views with the parts as an additional dimension
void run_complex_body(Call& call);       // converts all operands to one complex dtype, and evaluates the expression
void run_complex_generator(Call& call);  // generates real numbers and converts them

}  // namespace oneflow

#endif  // ONEFLOW_OPS_KINDS_H_
