// Contractions of few cells over a long depth, such as a tall matrix times its transpose: sums over pieces of the
// depth, which are tasks of their own, are added up.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_LONG_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_LONG_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// NULL where the problem is not of that kind.
std::unique_ptr<Solution> solve_in_pieces(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_LONG_H_
