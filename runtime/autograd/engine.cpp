#include "autograd/engine.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "autograd/mode.h"
#include "autograd/variable.h"
#include "device/options.h"
#include "dispatch/dispatch.h"
#include "tensor/complex.h"
#include "tensor/transfer.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kAny("any");
constinit const OperatorName kIsnan("isnan");
constinit const OperatorName kOnes("ones");

bool has_nan(const TensorRef& tensor) {
  const TensorRef parts = is_complex(tensor->dtype()) ? view_as_real(*tensor) : tensor;
  return to_double(item(*call_operator(kAny, call_operator(kIsnan, parts)))) != 0;
}

// Throws InvalidArgument if a gradient that a node has computed has a NaN.
void check_anomaly(const Node& node, const Gradients& found) {
  const GradMode off(false);
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] && has_nan(found[i]))
      fail(OF_INVALID_ARGUMENT,
           "the gradient of %s for its operand of shape %s has a NaN; the result of the call has shape %s", node.name(),
           to_text(node.edge_form(i).sizes).c_str(), to_text(node.output_form(0).sizes).c_str());
}

// A node or a leaf, with the gradients that have arrived.
struct Vertex {
  Ref<Node> node;
  Ref<Accumulator> leaf;
  Gradients grads;             // by output
  std::vector<size_t> inputs;  // by output: 1 + the position of the input whose gradient is wanted; 0: none
  bool is_wanted = false;      // whether a wanted gradient depends on it

  uint64_t number() const { return node ? node->number() : 0; }
};

class Pass {
 public:
  explicit Pass(const BackwardOptions& options) : options_(options) {}

  void start(std::span<const Root> roots) {
    for (const Root& root : roots) {
      const Edge edge = edge_of(*root.tensor);
      if (!edge && !options_.allow_constants)
        fail_without_gradient("a tensor of shape " + to_text(root.tensor->sizes()));
      TensorRef grad = grad_of(root);
      if (edge) add(edge, std::move(grad));
    }
    discover();
  }

  // Limits the pass to what the gradients of these tensors need.
  void limit_to(std::span<const TensorRef> inputs) {
    is_limited_ = true;
    results_.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Edge edge = edge_of(*inputs[i]);
      if (!edge) fail_without_gradient("input " + std::to_string(i));
      inputs_.push_back(edge);
    }
  }

  void run() {
    find_wanted();
    const GradMode mode(options_.create_graph);
    for (Vertex* vertex : order_) {
      if (vertex->is_wanted && std::any_of(vertex->grads.begin(), vertex->grads.end(),
                                           [](const TensorRef& grad) { return static_cast<bool>(grad); }))
        vertex->node ? run_node(*vertex) : run_leaf(*vertex);
      vertex->grads.clear();
    }
    if (options_.retain_graph) return;
    for (Vertex* vertex : order_)
      if (vertex->node && vertex->is_wanted) vertex->node->free_saved();
  }

  Gradients take_results() {
    for (const auto& [to, from] : same_) results_[to] = results_[from];
    return std::move(results_);
  }

 private:
  static TensorRef grad_of(const Root& root) {
    const Tensor& tensor = *root.tensor;
    if (!root.grad) {
      if (tensor.count() != 1)
        fail(OF_INVALID_ARGUMENT,
             "a tensor of shape %s needs a gradient of this shape; only one element has the "
             "default 1",
             to_text(tensor.sizes()).c_str());
      return call_operator(kOnes, tensor.sizes(), tensor.dtype(), tensor.device());
    }
    if (!same_sizes(root.grad->sizes(), tensor.sizes()))
      fail(OF_SHAPE_ERROR, "a gradient of shape %s does not fit a tensor of shape %s",
           to_text(root.grad->sizes()).c_str(), to_text(tensor.sizes()).c_str());
    return in_form(root.grad, Form::of(tensor));
  }

  Vertex& vertex(const Edge& edge) {
    const auto [found, is_new] = vertices_.try_emplace(edge.key());
    if (is_new) {
      found->second.node = edge.node;
      found->second.leaf = edge.leaf;
      const size_t outputs = edge.node ? edge.node->output_count() : 1;
      found->second.grads.resize(outputs);
      found->second.inputs.resize(outputs);
      order_.push_back(&found->second);
    }
    return found->second;
  }

  // Finds all nodes and leaves, and sorts them so that each comes before those that its edges lead to.
  void discover() {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (!order_[i]->node) continue;
      for (const Edge& edge : order_[i]->node->edges())
        if (edge) vertex(edge);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [](const Vertex* a, const Vertex* b) { return a->number() > b->number(); });
  }

  void find_wanted() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Edge& edge = inputs_[i];
      const auto found = vertices_.find(edge.key());
      if (found == vertices_.end()) continue;
      found->second.is_wanted = true;
      size_t& input = found->second.inputs[static_cast<size_t>(edge.output)];
      if (input) same_.emplace_back(i, input - 1);
      input = input ? input : i + 1;
    }
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      Vertex& vertex = **at;
      if (!is_limited_) vertex.is_wanted = true;
      if (!vertex.node) continue;
      for (const Edge& edge : vertex.node->edges())
        if (edge && this->vertex(edge).is_wanted) vertex.is_wanted = true;
    }
  }

  // Adds a gradient to those that have arrived.
  void add(const Edge& edge, TensorRef grad) {
    TensorRef& sum = vertex(edge).grads[static_cast<size_t>(edge.output)];
    sum = sum ? call_operator(kAdd, sum, grad) : std::move(grad);
  }

  void keep_result(const Vertex& vertex, size_t output, const TensorRef& grad) {
    if (const size_t input = vertex.inputs[output]) results_[input - 1] = grad;
  }

  void run_leaf(Vertex& vertex) {
    TensorRef grad = vertex.leaf->hooks().apply(std::move(vertex.grads[0]));
    keep_result(vertex, 0, grad);
    if (!is_limited_) vertex.leaf->add(std::move(grad), options_.create_graph);
  }

  void run_node(Vertex& vertex) {
    Node& node = *vertex.node;
    for (size_t i = 0; i < vertex.grads.size(); ++i) {
      if (!vertex.grads[i]) continue;
      vertex.grads[i] = node.hooks(i).apply(std::move(vertex.grads[i]));
      keep_result(vertex, i, vertex.grads[i]);
      if (const Ref<Accumulator> retained = node.collector(i); retained && !is_limited_)
        retained->add(vertex.grads[i], options_.create_graph);
    }
    std::vector<bool> wanted;
    bool any = false;
    for (const Edge& edge : node.edges()) {
      wanted.push_back(edge && this->vertex(edge).is_wanted);
      any |= wanted.back();
    }
    if (!any) return;
    Gradients found = node.run(vertex.grads, wanted);
    if (detects_anomalies()) [[unlikely]]
      check_anomaly(node, found);
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] && wanted[i]) add(node.edges()[i], std::move(found[i]));
  }

  const BackwardOptions options_;
  std::unordered_map<const void*, Vertex> vertices_;
  std::vector<Vertex*> order_;
  std::vector<Edge> inputs_;
  std::vector<std::pair<size_t, size_t>> same_;  // inputs that are given again, and where they were given first
  bool is_limited_ = false;
  Gradients results_;
};

}  // namespace

void backward(std::span<const Root> roots, const BackwardOptions& options) {
  Pass pass(options);
  pass.start(roots);
  pass.run();
}

Gradients grad(std::span<const Root> roots, std::span<const TensorRef> inputs, const BackwardOptions& options) {
  Pass pass(options);
  pass.start(roots);
  pass.limit_to(inputs);
  pass.run();
  return pass.take_results();
}

bool depends_on_others(std::span<const TensorRef> tensors, std::span<const TensorRef> inputs) {
  std::unordered_set<const void*> seen;
  for (const TensorRef& input : inputs)
    if (const Edge edge = edge_of(*input); edge.leaf) seen.insert(edge.key());
  std::vector<Edge> open;
  for (const TensorRef& tensor : tensors) open.push_back(edge_of(*tensor));
  while (!open.empty()) {
    const Edge edge = std::move(open.back());
    open.pop_back();
    if (!edge || !seen.insert(edge.key()).second) continue;
    if (edge.leaf) return true;
    open.insert(open.end(), edge.node->edges().begin(), edge.node->edges().end());
  }
  return false;
}

}  // namespace oneflow::autograd
