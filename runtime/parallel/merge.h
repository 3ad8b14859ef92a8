// Several flat tensors into one, in pieces that stay in the caches, and from there to wherever it is wanted.
#ifndef ONEFLOW_PARALLEL_MERGE_H_
#define ONEFLOW_PARALLEL_MERGE_H_

#include <vector>

#include "dispatch/operator.h"
#include "tensor/tensor.h"

namespace oneflow::collective {

// The operators of a Merge, and the one that they work for: what errors that are found later begin with.
struct Joining {
  const char* name;
  const Operator* by = nullptr;
  const Operator* then = nullptr;  // or NULL
};

// Joins `sources` in their order and writes the result to each of `targets`. All have one dimension, one size, one
// dtype and stride 1. A target may be a source of the same job; no other memory is shared.
struct Job {
  of_device device;  // whose kernels do it
  std::vector<TensorRef> sources;
  std::vector<TensorRef> targets;
};

// A single source is copied, and needs no operators.
void run(const Joining& joining, const std::vector<Job>& jobs);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_MERGE_H_
