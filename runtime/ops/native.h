// The functions that records of kind `native` name as their `infer`: they infer shapes and dtypes, and compute the
// results by a handwritten kernel or by other operators.
#ifndef ONEFLOW_OPS_NATIVE_H_
#define ONEFLOW_OPS_NATIVE_H_

#include "dispatch/call.h"

namespace oneflow::native {

// Changes of device and memory (copies.cpp).
void contiguous(Call& call);
void lazy_clone(Call& call);
void to_device(Call& call);
void pin_memory(Call& call);
// Copies several tensors into one.
void cat(Call& call);
void empty(Call& call);

// A complex number from its parts (complex.cpp).
void complex(Call& call);

// Sorting and permutations (order.cpp).
void sort(Call& call);
void topk(Call& call);
void randperm(Call& call);

// Advanced indexing (advanced_indexing.cpp).
void index(Call& call);
void index_put(Call& call);
void nonzero(Call& call);

}  // namespace oneflow::native

#endif  // ONEFLOW_OPS_NATIVE_H_
