// Small contractions of an element type that the kernels do not compute in, such as float16 or int8: converts A and B
// to the compute type, multiplies them in place, and converts C back. The kernels for unpacked operands, which are the
// fastest for small problems such as ik,kj->ij with 64 x 64 matrices, read the compute type only.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_CONVERTED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_CONVERTED_H_

#include <memory>

#include "contract/problem.h"

namespace oneflow::cpu {

// Returns NULL where the problem is large, has an epilogue or operands with gaps, or where the kernels compute in its
// dtype.
std::unique_ptr<Solution> solve_converted(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_CONVERTED_H_
