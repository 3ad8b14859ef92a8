// The memory that the backend may allocate before the control groups of the process end it.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_MEMORY_BUDGET_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>

namespace oneflow::cpu {

// Counts memory against the limit of the control groups. The system gives memory above that limit, and ends the process
// once it is used; an error comes in time for the caller to release something. Thread-safe.
class MemoryBudget {
 public:
  // `root` is as in group_limits().
  explicit constexpr MemoryBudget(const char* root = "") : root_(root) {}

  // Counts bytes that are going to be allocated. Returns false, and counts nothing, if the groups do not allow as much.
  bool take(uint64_t bytes);
  // Subtracts bytes that were released.
  void give_back(uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const char* const root_;
  std::atomic<uint64_t> taken_{0};
  std::atomic<uint64_t> limit_{0};  // as of the last look at the groups
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_MEMORY_BUDGET_H_
