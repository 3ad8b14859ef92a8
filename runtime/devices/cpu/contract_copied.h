// Thin contractions whose smaller operand lies apart along the depth, as a column of a matrix does: it is copied first.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_COPIED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_COPIED_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// NULL where the problem is not of that kind.
std::unique_ptr<Solution> solve_with_copy(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_COPIED_H_
