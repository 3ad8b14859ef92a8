/* Gradients in C++: inline code over oneflow/autograd.h.
 *
 *     #include <oneflow/autograd.hpp>
 *
 *     flow::Tensor x = flow::requires_grad(flow::tensor({1.0, 2.0}));
 *     flow::backward((x * x).sum());
 *     std::cout << *flow::gradient(x);
 */
#ifndef ONEFLOW_AUTOGRAD_HPP_
#define ONEFLOW_AUTOGRAD_HPP_

#include <oneflow/autograd.h>

#include <oneflow/oneflow.hpp>

namespace oneflow {

/// Makes a leaf require a gradient, or not, and returns it.
inline Tensor requires_grad(Tensor tensor, bool value = true) {
  check(of_tensor_set_requires_grad(tensor.get(), value));
  return tensor;
}

/// Returns whether a gradient of the tensor is wanted.
inline bool has_gradient(const Tensor& tensor) { return of_tensor_requires_grad(tensor.get()); }

/// Returns the gradient that backward passes have collected, if there is one.
inline std::optional<Tensor> gradient(const Tensor& tensor) {
  of_tensor found = nullptr;
  check(of_tensor_get_grad(tensor.get(), &found));
  if (!found) return std::nullopt;
  return Tensor(found);
}

/// Returns a tensor over the same memory that has no history.
inline Tensor detach(const Tensor& tensor) {
  of_tensor result = nullptr;
  check(of_tensor_detach(tensor.get(), &result));
  return Tensor(result);
}

/// How a backward pass runs.
struct BackwardOptions {
  bool retain_graph = false;  ///< keeps what another pass needs
  bool create_graph = false;  ///< records the pass, so that its gradients have gradients

  of_backward_options get() const { return {sizeof(of_backward_options), retain_graph, create_graph, false, nullptr}; }
};

/// Adds the gradients of a tensor with one element to all leaves that it depends on.
inline void backward(const Tensor& tensor, const BackwardOptions& options = {}) {
  const of_tensor root = tensor.get();
  const of_backward_options given = options.get();
  check(of_backward(&root, nullptr, 1, &given));
}

/// Adds the gradients of a tensor, whose own gradient is given.
inline void backward(const Tensor& tensor, const Tensor& gradient, const BackwardOptions& options = {}) {
  const of_tensor root = tensor.get(), grad = gradient.get();
  const of_backward_options given = options.get();
  check(of_backward(&root, &grad, 1, &given));
}

/// Returns the gradients of a tensor with one element for the inputs; none for one that it does not depend on.
inline std::vector<std::optional<Tensor>> grad(const Tensor& output, std::span<const Tensor> inputs,
                                               const BackwardOptions& options = {}) {
  const of_tensor root = output.get();
  const of_backward_options given = options.get();
  std::vector<of_tensor> handles, found(inputs.size());
  for (const Tensor& input : inputs) handles.push_back(input.get());
  check(of_grad(&root, nullptr, 1, handles.data(), handles.size(), &given, found.data()));
  std::vector<std::optional<Tensor>> results;
  for (const of_tensor each : found) results.push_back(each ? std::optional<Tensor>(Tensor(each)) : std::nullopt);
  return results;
}

/// Switches recording on or off for the calls of this thread, for as long as the object lives.
class GradMode {
 public:
  explicit GradMode(bool enabled) : before_(of_grad_enabled()) { of_set_grad_enabled(enabled); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  ~GradMode() { of_set_grad_enabled(before_); }

 private:
  const bool before_;
};

/// Does not record the calls of this thread, for as long as the object lives.
class NoGrad : public GradMode {
 public:
  NoGrad() : GradMode(false) {}
};

}  // namespace oneflow

#endif  // ONEFLOW_AUTOGRAD_HPP_
