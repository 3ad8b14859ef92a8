// Improves a path by local search.
#ifndef ONEFLOW_EINSUM_IMPROVE_PATH_H_
#define ONEFLOW_EINSUM_IMPROVE_PATH_H_

#include "einsum/network.h"

namespace oneflow::einsum {

// Returns a path of at most the same cost. Replaces small subtrees of the tree of products by the optimal ones for
// their operands, in rounds, until nothing improves (the subtree reconfiguration of Gray and Kourtis, "Hyper-optimized
// tensor network contraction", 2021).
Path improve_path(const Network& network, const Path& path, double limit);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_IMPROVE_PATH_H_
