// The graph that backward passes follow: a node per recorded call, edges to the nodes of its operands.
#ifndef ONEFLOW_AUTOGRAD_NODE_H_
#define ONEFLOW_AUTOGRAD_NODE_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "autograd/accumulator.h"
#include "autograd/hook.h"
#include "base/ref.h"
#include "tensor/tensor.h"

namespace oneflow::autograd {

class Node;

// Where the gradient of an operand goes: to an output of a node, or to a leaf, of which the output is 0. Nowhere if
// both are null.
struct Edge {
  Ref<Node> node;
  int output = 0;
  Ref<Accumulator> leaf;

  explicit operator bool() const { return node || leaf; }
  // Identifies the node or the leaf.
  const void* key() const { return node ? static_cast<const void*>(node.get()) : leaf.get(); }
};

// The shape, dtype and device of a tensor, which its gradient has as well.
struct Form {
  Shape sizes;
  of_dtype dtype;
  of_device device;

  static Form of(const Tensor& tensor) { return {tensor.sizes(), tensor.dtype(), tensor.device()}; }
};

// Gradients by output or by edge; null where there is none.
using Gradients = std::vector<TensorRef>;

// A step of a backward pass: from the gradients of the outputs of a call to those of its operands.
//
// A node gets its number after those that its edges lead to: the order of numbers is a topological order.
class Node : public RefCounted<Node> {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  // Returns the name of the recorded call, for users: "mul".
  virtual const char* name() const = 0;
  // Returns the gradient of each edge that is wanted, in the form of its operand. At least one of `grads` is not null.
  // Throws InvalidArgument after free_saved().
  Gradients run(const Gradients& grads, const std::vector<bool>& wanted);
  // Frees what run() needs, once no pass is in it.
  void free_saved() noexcept;

  uint64_t number() const { return number_; }
  const std::vector<Edge>& edges() const { return edges_; }
  // Returns the form of the operand of an edge.
  const Form& edge_form(size_t edge) const { return edge_forms_[edge]; }
  size_t output_count() const { return outputs_.size(); }
  const Form& output_form(size_t output) const { return outputs_[output].form; }

  // Adds an edge for an operand.
  void add_edge(Edge edge, const Tensor& operand);
  // Adds an output. All edges must be there: the first output gives the node its number.
  void add_output(const Tensor& output);
  // Returns the hooks of an output.
  Hooks& hooks(size_t output);
  // Makes backward passes add the gradient of an output to an accumulator as well.
  void collect(size_t output, Ref<Accumulator> accumulator);
  Ref<Accumulator> collector(size_t output);

  // Frees the node, and what only it refers to. Not recursive, however long the chain of nodes.
  void destroy() noexcept;

 protected:
  Node() = default;
  // Does what run() does. Several threads may be in it.
  virtual Gradients compute(const Gradients& grads, const std::vector<bool>& wanted) = 0;
  // Frees what compute() needs. Called at most once, while no thread is in compute(), and before none will be.
  virtual void release_saved() noexcept = 0;
  // Returns the gradients of all outputs, with zeros where there is none.
  Gradients with_zeros(Gradients grads) const;

 private:
  struct Output {
    Form form;
    Ref<Accumulator> collector;
    std::unique_ptr<Hooks> hooks;
  };
  static constexpr int kFreed = 1, kRun = 2;
  // A run that has begun, for which what is saved is kept.
  class Run;

  uint64_t number_ = 0;
  Node* next_freed_ = nullptr;
  std::atomic<int> runs_{0};  // kFreed after free_saved(), and kRun for each run that has begun and not ended
  std::vector<Edge> edges_;
  std::vector<Form> edge_forms_;
  std::vector<Output> outputs_;
};

// Returns a gradient in the form of the tensor whose gradient it is: sums what was broadcast, takes the real part for a
// real tensor, casts, and moves to the device.
TensorRef in_form(TensorRef grad, const Form& form);

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_NODE_H_
