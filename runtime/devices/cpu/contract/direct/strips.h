// Products of a large and a small matrix, vectorised along dimensions that are contiguous in the large one. Examples:
//   ki,kj->ij     30 x 100000 by 30 x 12         C is contiguous along the columns j of the small matrix
//   ki,kj->ji     200 x 100000 by 200 x 8        C is contiguous along i, as the large matrix
//   kai,kj->jia   30 x 100 x 1000 by 30 x 4      C is contiguous along an outer dimension of the large operand, a
// A strip is a register tile of one vector of the large operand, which is read in place, by up to 24 columns of the
// small one, which is packed and stays in the caches. Where C is strided along the vector, squares of sums are
// transposed in registers. Packing the large operand would take as long as multiplying its elements by so few others.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_STRIPS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_STRIPS_H_

#include <memory>

#include "contract/problem.h"

namespace oneflow::cpu {

// Returns NULL where the problem is not plain or its dtype needs a conversion, where the large operand is not
// contiguous along a dimension of C, where it is too small or the other operand too large, where the depth is too short
// or too long, and where packing is faster.
std::unique_ptr<Solution> solve_in_strips(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_STRIPS_H_
