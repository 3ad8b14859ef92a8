// One step of a contraction: the sum over one operand, or of the products of two.
#ifndef ONEFLOW_EINSUM_PRODUCT_H_
#define ONEFLOW_EINSUM_PRODUCT_H_

#include "dispatch/call.h"
#include "einsum/operand.h"

namespace oneflow::einsum {

// Writes `a`, summed over the labels that `out` lacks, into `out`. Every label of `out` is in `a`; one element type.
void sum_into(const Call& call, const Operand& out, const Operand& a);

// Writes the product of `a` and `b`, summed over the labels that `out` lacks, into `out`. Every label of `out` is in
// one of them; one element type. By the device's contractions, or elementwise where nothing is summed.
void multiply_into(const Call& call, const Operand& out, const Operand& a, const Operand& b);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PRODUCT_H_
