// Split-K for contractions with a small C and a long depth, such as ki,kj->ij with 100,000 x 8 by 100,000 x 8, a tall
// matrix times its transpose: cuts the depth into pieces, computes their sums in parallel, as a batch, and adds these
// up. Without it, C would not have enough elements for all threads.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_LONG_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_LONG_H_

#include <memory>

#include "contract/problem.h"

namespace oneflow::cpu {

// Returns NULL where C is large, the depth is short, the kernels do not compute in the dtype, or the elements of C are
// dot products of contiguous vectors, which are cut into pieces elsewhere (see contract/direct/dots.h).
std::unique_ptr<Solution> solve_in_pieces(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_LONG_H_
