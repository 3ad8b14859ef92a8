// The plans of the calls that were made lately.
#ifndef ONEFLOW_EINSUM_PLAN_CACHE_H_
#define ONEFLOW_EINSUM_PLAN_CACHE_H_

#include "base/ref.h"
#include "einsum/plan.h"

namespace oneflow::einsum {

// A plan that stays while somebody uses it, also when the cache lets go of it meanwhile. Only its thread counts uses,
// so that no atomic instructions are needed.
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

// The plan of a call, made where there is none yet. Each thread keeps its own: making one takes microseconds, finding
// one some tens of nanoseconds.
Ref<const CachedPlan> plan_for(const Call& call);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PLAN_CACHE_H_
