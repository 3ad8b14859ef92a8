// The limits that the control groups of Linux set for a process, such as those of a container.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_CONTROL_GROUP_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_CONTROL_GROUP_H_

#include <climits>
#include <cstdint>
#include <string>

namespace oneflow::cpu {

// What all the groups that contain a process allow it together. The largest number means that there is no limit.
struct GroupLimits {
  int processors = INT_MAX;               // the quota of processor time per time, rounded up to an integer
  uint64_t memory = UINT64_MAX;           // bytes of memory
  uint64_t memory_and_swap = UINT64_MAX;  // bytes of memory and swap space together
  uint64_t unused_memory = UINT64_MAX;    // bytes of memory that the groups have left
};

// Reads the limits of this process, of version 1 and 2 of control groups. What is missing or malformed sets no limit.
// `root` is the folder with the folders proc and sys; "" is that of the system.
GroupLimits group_limits(const std::string& root = "") noexcept;

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_CONTROL_GROUP_H_
