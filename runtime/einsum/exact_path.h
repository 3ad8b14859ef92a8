// Finds the optimal path by dynamic programming over subsets of the operands.
#ifndef ONEFLOW_EINSUM_EXACT_PATH_H_
#define ONEFLOW_EINSUM_EXACT_PATH_H_

#include "einsum/network.h"

namespace oneflow::einsum {

inline constexpr size_t kMaxExactOperands = 16;

// Returns the path with the fewest operations whose intermediates have at most `limit` elements; if there is none, the
// limit is the smallest one that any path keeps. Returns an empty path for a network of one operand, and for one of
// more than kMaxExactOperands operands.
Path find_exact_path(const Network& network, double limit);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EXACT_PATH_H_
