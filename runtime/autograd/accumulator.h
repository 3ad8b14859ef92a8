// Where the gradient of a tensor is collected: of a leaf, or of another tensor that retains its gradient.
#ifndef ONEFLOW_AUTOGRAD_ACCUMULATOR_H_
#define ONEFLOW_AUTOGRAD_ACCUMULATOR_H_

#include <mutex>
#include <vector>

#include "autograd/hook.h"
#include "base/ref.h"
#include "tensor/tensor.h"

namespace oneflow::autograd {

// A gradient that backward passes add to, and the hooks that see what they add. Thread-safe.
class Accumulator final : public RefCounted<Accumulator> {
 public:
  // Returns the gradient, or null.
  TensorRef grad();
  void set_grad(TensorRef grad);
  // Adds a gradient. `records` says that the sum has a gradient itself, so that no tensor is changed in place.
  void add(TensorRef grad, bool records);

  Hooks& hooks() { return hooks_; }

  void destroy() noexcept { delete this; }

 private:
  // Held by passes while they add, which may take memory and so wait for other threads to release some. These must not
  // wait for the pass in turn: no other function takes it.
  std::recursive_mutex adding_;
  std::mutex mutex_;  // guards grad_
  TensorRef grad_;
  Hooks hooks_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_ACCUMULATOR_H_
