// Contractions one side of which is so small that it stays in the first-level cache: tiny matrices and batches of them,
// and products of a tall matrix and a small one.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_SMALL_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_SMALL_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// NULL where the problem is not of that kind.
std::unique_ptr<Solution> solve_small(const Problem& problem);
// Whether it is.
bool is_small(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_SMALL_H_
