// Backward passes.
#ifndef ONEFLOW_AUTOGRAD_ENGINE_H_
#define ONEFLOW_AUTOGRAD_ENGINE_H_

#include <span>

#include "autograd/node.h"

namespace oneflow::autograd {

struct BackwardOptions {
  bool retain_graph = false;     // keeps what the gradients need, for another pass
  bool create_graph = false;     // records the pass, so that its gradients have gradients
  bool allow_constants = false;  // takes roots that do not require a gradient
};

// A tensor that a pass begins at, and its gradient; null for 1, which only a tensor with one element has.
struct Root {
  TensorRef tensor;
  TensorRef grad;
};

// Adds the gradients of the leaves that the roots depend on to these. Throws InvalidArgument for a root that does not
// require a gradient, ShapeError for a gradient of another shape.
void backward(std::span<const Root> roots, const BackwardOptions& options);

// Returns the gradients of `inputs`, null for one that the roots do not depend on, and adds none to leaves.
Gradients grad(std::span<const Root> roots, std::span<const TensorRef> inputs, const BackwardOptions& options);

// Returns whether the tensors depend on leaves that are not among `inputs`.
bool depends_on_others(std::span<const TensorRef> tensors, std::span<const TensorRef> inputs);

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_ENGINE_H_
