// Products of a large operand that lies along the sum and a small one: the lines of the large one are read once, where
// they lie. Packing them would take as long as multiplying them by so few others.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_LINES_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_LINES_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// NULL where the problem is not of that kind.
std::unique_ptr<Solution> solve_by_lines(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_LINES_H_
