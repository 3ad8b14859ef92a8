// Parts of groups that the members agree on.
#ifndef ONEFLOW_PARALLEL_PROCESSES_SPLIT_H_
#define ONEFLOW_PARALLEL_PROCESSES_SPLIT_H_

#include "parallel/processes/group.h"

namespace oneflow::processes {

// Implements of_group_split(): returns NULL for a negative color.
const Group* split(const Group& group, int64_t color, int64_t key);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_SPLIT_H_
