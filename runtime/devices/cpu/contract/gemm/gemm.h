// The blocked matrix product of GotoBLAS and BLIS: blocks of A and B are packed into panels, which micro-kernels
// multiply.
//
// For ik,kj->ij with 2,000 x 2,000 matrices of float32 on one thread, the depth k is cut into blocks of 500, the
// columns j into blocks of 1,000 and the rows i into blocks of 500. For each block of columns and depth, the panels of
// B (depth x NR) are packed once and reused by all blocks of rows, whose panels of A (depth x MR) stay in the
// second-level cache. Packing pays because it makes every access of the micro-kernel contiguous, whatever the layout of
// the operands, and because each packed element is used hundreds of times.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_GEMM_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_GEMM_H_

#include <memory>

#include "contract/problem.h"
#include "contract/work.h"

namespace oneflow::cpu {

// Returns whether micro-kernels should read B, which has overlapping windows, in place rather than in panels.
bool reads_windows_in_place(const Problem& problem);

// Returns the solution of any problem with at least one row, column and batch item; with a depth of 0, C is zeros. Its
// run() fails with OutOfMemory where there is no working memory, of which a thread needs less than 8 MiB.
std::unique_ptr<Solution> solve_by_packing(const Problem& problem);
// Returns what that costs.
double cost_by_packing(const Work& work);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_GEMM_H_
