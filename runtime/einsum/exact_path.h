// The best path of all, by dynamic programming over subsets of the operands.
#ifndef ONEFLOW_EINSUM_EXACT_PATH_H_
#define ONEFLOW_EINSUM_EXACT_PATH_H_

#include "einsum/network.h"

namespace oneflow::einsum {

inline constexpr size_t kMostExactOperands = 16;

// As in path.h. Empty for networks of one operand, and for those that are too large to be searched: of more operands
// than that, or of more than 64 labels that differ in who has them.
Path find_exact_path(const Network& network, double limit);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EXACT_PATH_H_
