// Small contractions of a type that kernels do not compute with, float16 or int8: its operands are converted as a
// whole, and then multiplied where they lie.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_CONVERTED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_CONVERTED_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// NULL where the problem is not of that kind.
std::unique_ptr<Solution> solve_converted(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_CONVERTED_H_
