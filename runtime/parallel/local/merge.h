// Elementwise merging of tensors on several devices.
#ifndef ONEFLOW_PARALLEL_LOCAL_MERGE_H_
#define ONEFLOW_PARALLEL_LOCAL_MERGE_H_

#include <vector>

#include "dispatch/operator.h"
#include "tensor/tensor.h"

namespace oneflow::collective {

// The operators that merge tensors.
struct MergeOperators {
  const char* name;                // of the operator that the user called: the texts of deferred errors begin with it
  const Operator* by = nullptr;    // merges two tensors
  const Operator* then = nullptr;  // is called with the merged tensor and the number of sources; may be NULL
};

// A merge of `sources`, in their order, whose result is written to each of `targets`. All tensors are contiguous
// vectors of the same size and dtype. A target may be one of the sources; otherwise, tensors share no memory.
struct Job {
  of_device device;  // runs the kernels
  std::vector<TensorRef> sources;
  std::vector<TensorRef> targets;
};

// Runs the jobs, in pieces that stay in the caches. A job with a single source copies it, which needs no operators.
void run_jobs(const MergeOperators& operators, const std::vector<Job>& jobs);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_LOCAL_MERGE_H_
