// Which devices ranks can have for themselves.
#ifndef ONEFLOW_PARALLEL_PROCESSES_ASSIGNMENT_H_
#define ONEFLOW_PARALLEL_PROCESSES_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

namespace oneflow::processes {

// Returns whether each rank can have a device that no other one has: usable[r] are those that rank r can use.
bool has_device_for_each(const std::vector<std::vector<uint64_t>>& usable);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_ASSIGNMENT_H_
