// Functions of users that see the gradient of a tensor during a backward pass, and may replace it.
#ifndef ONEFLOW_AUTOGRAD_HOOK_H_
#define ONEFLOW_AUTOGRAD_HOOK_H_

#include <oneflow/autograd.h>

#include <atomic>
#include <vector>

#include "base/ref.h"
#include "tensor/tensor.h"

namespace oneflow::autograd {

// A hook, until it is removed.
class Hook final : public RefCounted<Hook> {
 public:
  Hook(of_gradient_hook function, void* context, of_deleter destroy)
      : function_(function), context_(context), destroy_(destroy) {}

  // Returns what the hook makes of a gradient. Throws the hook's error.
  TensorRef apply(TensorRef grad) const;
  bool is_removed() const { return is_removed_.load(std::memory_order_relaxed); }
  void remove() { is_removed_.store(true, std::memory_order_relaxed); }

  void destroy() noexcept {
    if (destroy_) destroy_(context_);
    delete this;
  }

 private:
  const of_gradient_hook function_;
  void* const context_;
  const of_deleter destroy_;
  std::atomic<bool> is_removed_{false};
};

// The hooks of one tensor, in the order in which they were added. Thread-safe.
class Hooks {
 public:
  void add(Ref<Hook> hook);
  TensorRef apply(TensorRef grad);

 private:
  std::vector<Ref<Hook>> hooks_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_HOOK_H_
