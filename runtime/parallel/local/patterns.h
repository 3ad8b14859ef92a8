// The patterns that records of kind `collective` name: they infer shapes, allocate the results on their devices, and
// copy or merge the tensors of the ranks.
#ifndef ONEFLOW_PARALLEL_LOCAL_PATTERNS_H_
#define ONEFLOW_PARALLEL_LOCAL_PATTERNS_H_

#include "parallel/collective_rule.h"

namespace oneflow::collective {

void broadcast(Call& call);
void scatter(Call& call);
void gather(Call& call);
void all_gather(Call& call);
void reduce(Call& call);
void all_reduce(Call& call);
void reduce_scatter(Call& call);
void all_to_all(Call& call);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_LOCAL_PATTERNS_H_
