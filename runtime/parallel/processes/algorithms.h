// What operations between processes do, over sends and receives: written once for all communicators. Tensors are
// contiguous, and in memory of the host.
#ifndef ONEFLOW_PARALLEL_PROCESSES_ALGORITHMS_H_
#define ONEFLOW_PARALLEL_PROCESSES_ALGORITHMS_H_

#include <vector>

#include "parallel/local/merge.h"
#include "parallel/processes/operation.h"

namespace oneflow::processes {

using Tensors = std::vector<TensorRef>;

// So many ranks send small tensors to each other at once. More of them gather by doubling, as long as the tensors of
// all together have at most so many bytes.
constexpr uint32_t kDirectRanks = 8;
constexpr int64_t kSmallOfAll = 128 << 10;

// Sends part r to rank r, and merges the parts for the own rank into `target`, in the order of the ranks.
Task exchange_and_merge(Operation& operation, const Tensors& parts, const TensorRef& target,
                        const collective::MergeOperators& operators);

// Gathers a vector of each rank, whose numbers of elements all ranks know, in the order of the positions. A rank passes
// on what it has got: it sends and receives as many bytes as if all sent to all, in as many messages as the logarithm
// of the number of ranks, but the last ones wait for the first ones.
Task gather_by_doubling(Operation& operation, const TensorRef& own, const std::vector<int64_t>& counts,
                        TensorRef& gathered);

// Sends a whole tensor to all, and merges those of all into `target`.
Task merge_of_all(Operation& operation, const TensorRef& input, const TensorRef& target,
                  const collective::MergeOperators& operators);

// Sends each rank r the tensor parts[r], and joins those of all along a dimension, in which their sizes may differ:
// they have the sizes `like` but for it.
Task exchange(Operation& operation, const char* caller, const Tensors& parts, const Shape& like, int dim,
              TensorRef& result);

// Tells all ranks a number, and gets theirs.
Task exchange_numbers(Operation& operation, int64_t own, std::vector<int64_t>& numbers);

// Sends each rank its number, and gets theirs.
Task trade_numbers(Operation& operation, const std::vector<int64_t>& numbers, std::vector<int64_t>& got);

// Compares numbers of all ranks: afterwards, all have 0 unless they had the same one. In round k, each rank tells the
// one 2^k places behind it what it has found so far, so that it ends only when all have begun.
Task agree(Operation& operation, int64_t& number);

// Receives all of a tensor from a rank, or sends it.
Task receive_whole(Operation& operation, uint32_t from, const TensorRef& target);
Task send_whole(Operation& operation, uint32_t to, const TensorRef& source);

// Sends what the root has to all, from rank to rank.
Task broadcast_by_tree(Operation& operation, uint32_t root, const TensorRef& tensor);

// Sends the parts of a vector that each rank has merged to all others.
Task share_parts(Operation& operation, const TensorRef& whole);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_ALGORITHMS_H_
