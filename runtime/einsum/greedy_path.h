// Paths for networks that are too large for an exact search.
#ifndef ONEFLOW_EINSUM_GREEDY_PATH_H_
#define ONEFLOW_EINSUM_GREEDY_PATH_H_

#include "einsum/network.h"

namespace oneflow::einsum {

// Step by step: each takes the two operands, of those that share a label, whose product is the smallest next to what it
// replaces. Their own elements count `weight` times. Products beyond the limit come last.
Path find_greedy_path(const Network& network, double weight, double limit);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_GREEDY_PATH_H_
