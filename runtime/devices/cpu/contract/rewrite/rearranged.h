// Contractions whose layouts no kernel can read in long vectors: copies operands into another layout first, or computes
// C in another layout and copies it.
//
// In ikb,kjb->ijb, for example, a batch of matrix products whose batch b is innermost, vectors run along b, so that
// nothing is reused in registers and both operands are read again for every row and column. Copies with b outermost
// make it a batch of contiguous matrices. A copy pays where each copied element is used many times, or where vectors
// become much longer: a cost model (work.h) compares the possible layouts. Operands that are too large for working
// memory are copied part by part (parts.h).
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_REARRANGED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_REARRANGED_H_

#include <memory>

#include "contract/problem.h"

namespace oneflow::cpu {

// Solves a problem with the operands in their current layout.
using SolveInCurrentLayout = Solved (*)(const Problem& problem);

// Returns NULL where copies would not pay, or where the problem has an epilogue, no depth or little work. `solve`
// solves what remains after the copies.
std::unique_ptr<Solution> solve_rearranged(const Problem& problem, SolveInCurrentLayout solve);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_REARRANGED_H_
