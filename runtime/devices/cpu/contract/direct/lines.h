// Products of a large and a small matrix as dot products, where the large one is contiguous along the depth. Examples:
//   ik,jk->ij   100000 x 1000 by 8 x 1000
//   ik,kj->ij   100000 x 1000 by 1000 x 8
// A line is a row of the large operand; or a column, where that is B. Each line is read once, in place, a few lines at
// a time, and multiplied by all lines of the small operand, which are packed and stay in the second-level cache.
// Packing the large operand would take as long as multiplying its elements by so few others.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_LINES_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_LINES_H_

#include <memory>

#include "contract/problem.h"
#include "contract/work.h"

namespace oneflow::cpu {

// Returns NULL where the problem is not plain or its dtype needs a conversion, where the depth is several dimensions or
// strided in the large operand, where the small operand has one line or too many, and where the depth is too short.
std::unique_ptr<Solution> solve_by_lines(const Problem& problem);
// Returns what that costs where the small operand is contiguous, too. A strided one is not estimated, nor are lines of
// thin problems, which dot products compute as well.
double cost_by_lines(const Work& work);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_LINES_H_
