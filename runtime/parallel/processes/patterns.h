// The patterns of collectives between processes, which records of kind `collective` name: each rank passes one tensor,
// and gets one.
#ifndef ONEFLOW_PARALLEL_PROCESSES_PATTERNS_H_
#define ONEFLOW_PARALLEL_PROCESSES_PATTERNS_H_

#include "parallel/collective_rule.h"

namespace oneflow {

// A function of programs: returns the number of ranks of a group, whose text it is; of the job for null.
int64_t group_size(const of_value& group);

}  // namespace oneflow

namespace oneflow::processes {

void all_reduce(Call& call);
void all_gather(Call& call);
void reduce_scatter(Call& call);
void all_to_all(Call& call);
void broadcast(Call& call);
void reduce(Call& call);
void gather(Call& call);
void scatter(Call& call);
void send(Call& call);
void receive(Call& call);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_PATTERNS_H_
