// Contractions over the operands where they lie, without packing: for products that are thin (a matrix and a vector,
// two vectors, batches of them) or tiny.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_H_

#include "contract_problem.h"

namespace oneflow::cpu {

// Whether the problem is of that kind and was computed. False leaves C as it is.
bool contract_directly(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_H_
