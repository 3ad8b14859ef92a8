// Making a path better, a few of its products at a time.
#ifndef ONEFLOW_EINSUM_IMPROVE_PATH_H_
#define ONEFLOW_EINSUM_IMPROVE_PATH_H_

#include "einsum/network.h"

namespace oneflow::einsum {

// Cuts the tree of products into small ones, each of which is replaced by the best one for its operands, round by round
// until nothing is gained. (Gray and Kourtis, "Hyper-optimized tensor network contraction", 2021, call it subtree
// reconfiguration.)
Path improve_path(const Network& network, const Path& path, double limit);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_IMPROVE_PATH_H_
