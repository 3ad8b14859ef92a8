// A cache of the plans of recent calls.
#ifndef ONEFLOW_EINSUM_PLAN_CACHE_H_
#define ONEFLOW_EINSUM_PLAN_CACHE_H_

#include "base/ref.h"
#include "einsum/plan.h"

namespace oneflow::einsum {

// A reference-counted plan, which may be evicted from the cache while it is in use. Each thread has its own cache, so
// that the count does not need to be atomic.
class CachedPlan final : public Plan {
 public:
  explicit CachedPlan(Plan plan) : Plan(std::move(plan)) {}
  void retain() const noexcept { ++uses_; }
  void release() const noexcept {
    if (--uses_ == 0) delete this;
  }

 private:
  mutable int64_t uses_ = 1;
};

// Returns the plan of a call from the cache of the calling thread, or makes it.
Ref<const CachedPlan> plan_for(const Call& call);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PLAN_CACHE_H_
