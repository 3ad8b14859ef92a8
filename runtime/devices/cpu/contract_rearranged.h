// Contractions whose operands lie so that no kernel walks them in long vectors: those that are in the way are copied
// into another order first, or the result comes to lie in another order and is then copied.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REARRANGED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REARRANGED_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// How to solve a problem as its operands lie.
using SolveAsItLies = Solved (*)(const Problem& problem);

// NULL where copies would not pay for themselves.
std::unique_ptr<Solution> solve_rearranged(const Problem& problem, SolveAsItLies solve);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REARRANGED_H_
