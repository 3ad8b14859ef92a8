#include "plugin/memory_budget.h"

#include "plugin/control_group.h"

namespace oneflow::cpu {

bool MemoryBudget::take(uint64_t bytes) {
  uint64_t taken = taken_.load(std::memory_order_relaxed);
  while (true) {
    if (taken + bytes > limit_.load(std::memory_order_relaxed)) {
      // This is the first look, or the limit may have been raised since the last one.
      const uint64_t limit = group_limits(root_).memory_and_swap;
      limit_.store(limit, std::memory_order_relaxed);
      if (taken + bytes > limit) return false;
    }
    if (taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed)) return true;
  }
}

}  // namespace oneflow::cpu
