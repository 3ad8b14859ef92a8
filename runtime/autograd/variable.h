// What autograd keeps with a tensor: whether it requires a gradient, and the recorded call that it is a result of.
#ifndef ONEFLOW_AUTOGRAD_VARIABLE_H_
#define ONEFLOW_AUTOGRAD_VARIABLE_H_

#include <string>

#include "autograd/node.h"

namespace oneflow::autograd {

// Returns whether tensors of a type can have a gradient.
inline bool is_differentiable(of_dtype dtype) { return is_floating(dtype) || is_complex(dtype); }

// The part of a tensor that autograd keeps, as its extension. Thread-safe.
class Variable final {
 public:
  explicit Variable(const Tensor& tensor) : has_memory_(tensor.has_memory()) {}

  // Returns that of a tensor; null if it has none.
  static Variable* find(const Tensor& tensor);
  // Returns that of a tensor, which is created if it has none. The first one of the process installs the layer.
  static Variable& of(const Tensor& tensor);

  // Makes the tensor a leaf that requires a gradient, or not.
  void set_leaf(bool requires_grad);
  // Makes the tensor an output of a node. `generation` is that of the base of a view, see below.
  void set_origin(Ref<Node> node, int output, uint64_t generation = 0);
  // Returns where a gradient of the tensor goes.
  Edge edge();
  bool requires_grad();
  bool is_leaf();

  // Returns where the gradient is collected: for a leaf, or a tensor that retains its gradient. Null for others.
  Ref<Accumulator> accumulator();
  // Makes backward passes collect the gradient of a tensor that is not a leaf.
  void retain_grad();

  // How often writes through views have changed the history of the tensor. A view has that of its base when the view's
  // origin was recorded; if it is smaller than the base's, the view's origin is out of date.
  uint64_t generation();
  void start_generation();
  // Gives a view the generation of its base. For views made while calls are not recorded, which have no history.
  static void keep_constant(const Tensor& view);

 private:
  const bool has_memory_;  // whether the tensor has memory
  bool is_leaf_ = true, requires_grad_ = false;
  Ref<Node> node_;
  int output_ = 0;
  uint64_t generation_ = 0;
  Ref<Accumulator> accumulator_;
};

// Returns whether a gradient of the tensor is wanted.
bool requires_grad(const Tensor& tensor);

// Throws InvalidArgument for a tensor that does not require a gradient, with the causes that a user may have
// overlooked. `tensor` says which one it is.
[[noreturn]] void fail_without_gradient(const std::string& tensor);

// Returns where a gradient of the tensor goes. The origin of a view is brought up to date first.
Edge edge_of(const Tensor& tensor);

// Returns a tensor over the same memory without a history.
TensorRef detached(const Tensor& tensor);

// Makes a leaf require a gradient, or not. Throws DTypeError for a dtype without gradients, InvalidArgument if the
// history of a tensor would be lost.
void set_requires_grad(const Tensor& tensor, bool requires_grad);

// Returns a tensor over the same memory that a function can be differentiated for. With `keeps_history`, it depends on
// a tensor that requires a gradient, as the result of a recorded call; otherwise it is a leaf.
TensorRef independent_variable(const Tensor& tensor, bool keeps_history);

// Returns a copy of a leaf that is a leaf itself, with a copy of its gradient. Throws InvalidArgument for other
// tensors.
TensorRef copy_of_leaf(const Tensor& tensor);

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_VARIABLE_H_
