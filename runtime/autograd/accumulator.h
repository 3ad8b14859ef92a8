// Where the gradient of a tensor is collected: of a leaf, or of another tensor that retains its gradient.
#ifndef ONEFLOW_AUTOGRAD_ACCUMULATOR_H_
#define ONEFLOW_AUTOGRAD_ACCUMULATOR_H_

#include <vector>

#include "autograd/hook.h"
#include "base/fork_safe.h"
#include "base/ref.h"
#include "tensor/tensor.h"

namespace oneflow::autograd {

// A gradient that backward passes add to, and the hooks that see what they add. Thread-safe.
//
// The sum is computed in the memory of the gradient, so that whoever holds it sees it grow, and only one thread may add
// at a time. This is not done under a lock: an addition may run out of memory, and the front end then runs code of
// users, which waits for the lock of its language, reads the gradient, or starts another pass. Therefore
// - grad() and set_grad() wait for nobody;
// - a pass waits until it is its turn to add. Front ends run passes without the lock of their language;
// - a pass within an addition cannot wait, because that addition, or one that waits for it, may be what it would wait
//   for. It leaves its gradient to the thread whose turn it is, which adds it before its own pass goes on.
class Accumulator final : public RefCounted<Accumulator> {
 public:
  // `has_memory` says whether the tensor of the gradient has memory. Then the gradient must have memory, too: while a
  // graph is captured, others are values of the graph. set_grad() and add() throw Unsupported.
  explicit Accumulator(bool has_memory) : has_memory_(has_memory) {}

  // Returns the gradient, or null.
  TensorRef grad();
  void set_grad(TensorRef grad);
  // Adds a gradient. `records` says that the sum has a gradient itself, so that no tensor is changed in place.
  void add(TensorRef grad, bool records);

  Hooks& hooks() { return hooks_; }

  void destroy() noexcept { delete this; }

 private:
  struct Addition {
    TensorRef grad;
    bool records;
  };

  void check_memory(const Tensor& grad) const;
  // Waits until it is the turn of this thread, and returns true; or returns false, and leaves the addition to the
  // thread whose turn it is.
  bool take_turn(Addition& addition);
  // Takes an addition that was left to this thread, and returns true; or ends its turn, and returns false.
  bool take_left(Addition& addition);
  void perform(Addition& addition);
  // Stores a gradient in place of `before`, and returns true; or returns false if that was replaced meanwhile.
  bool replace(const TensorRef& before, TensorRef& after);

  const bool has_memory_;
  TensorRef grad_;
  Ongoing turn_;
  std::vector<Addition> left_;
  Hooks hooks_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_ACCUMULATOR_H_
