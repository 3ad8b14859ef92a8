// Contractions by packing blocks of A and B into panels and multiplying those.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// Any problem with at least one row, column and batch; no depth gives zeros. It fails with OutOfMemory where there is
// no working memory, of which a thread needs less than 8 MiB.
std::unique_ptr<Solution> solve_by_packing(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_H_
