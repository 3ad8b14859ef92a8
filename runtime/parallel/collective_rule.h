// What records of kind `collective` say.
#ifndef ONEFLOW_PARALLEL_COLLECTIVE_RULE_H_
#define ONEFLOW_PARALLEL_COLLECTIVE_RULE_H_

#include <span>

#include "dispatch/call.h"
#include "parallel/local/merge.h"

namespace oneflow {

// How a collective merges the tensors of several ranks.
struct Merge {
  const char* by;    // the operator that merges two tensors
  const char* then;  // an operator that is applied to the merged tensor and the number of ranks; null: none
  DTypeSet accepts;
};

struct CollectiveRule {
  std::span<const Merge> merges = {};  // in the order of the matched values
};

namespace collective {

// Returns the operators that merge tensors of a dtype, for the value of the matched attribute. Throws DTypeError, with
// a text that begins with `tensor`, for a dtype that they do not accept.
MergeOperators merge_operators(const Call& call, const char* tensor, of_dtype dtype);

}  // namespace collective

}  // namespace oneflow

#endif  // ONEFLOW_PARALLEL_COLLECTIVE_RULE_H_
