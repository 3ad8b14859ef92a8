// Products of a large operand and a small one, reading the large one where it lies: packing it would take as long as
// multiplying its elements by so few others.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_STRIPS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_STRIPS_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// NULL where the problem is not of that kind.
std::unique_ptr<Solution> solve_in_strips(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_STRIPS_H_
