// A greedy search, for networks that are too large for an exact one.
#ifndef ONEFLOW_EINSUM_GREEDY_PATH_H_
#define ONEFLOW_EINSUM_GREEDY_PATH_H_

#include "einsum/network.h"

namespace oneflow::einsum {

// Returns a path found step by step. Each step multiplies the two operands that share a label and minimize the elements
// of the product minus `weight` times the elements of both. Products of more than `limit` elements come last.
Path find_greedy_path(const Network& network, double weight, double limit);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_GREEDY_PATH_H_
