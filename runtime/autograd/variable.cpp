#include "autograd/variable.h"

#include "autograd/mode.h"
#include "autograd/object_lock.h"
#include "autograd/record.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kAsStrided("as_strided");
constinit const OperatorName kLazyClone("lazy_clone");
constinit const OperatorName kPermute("permute");

// Records a view of the base of a tensor that selects its elements, and makes the tensor its result: the history of the
// base has changed since the tensor was made.
void update_origin(const Tensor& tensor, Variable& base) {
  const GradMode on(true);
  const uint64_t generation = base.generation();
  const TensorRef again = call_operator(kAsStrided, *tensor.base(), tensor.sizes(), tensor.strides(), tensor.offset());
  const Edge edge = Variable::of(*again).edge();
  Variable::of(tensor).set_origin(edge.node, edge.output, generation);
}

}  // namespace

Variable* Variable::find(const Tensor& tensor) {
  return static_cast<Variable*>(tensor.extensions().find(OF_LAYER_AUTOGRAD));
}

Variable& Variable::of(const Tensor& tensor) {
  if (Variable* found = find(tensor)) return *found;
  install();
  auto created = std::make_unique<Variable>(tensor);
  try {
    tensor.extensions().add(OF_LAYER_AUTOGRAD, created.get(),
                            [](void* variable) { delete static_cast<Variable*>(variable); });
    return *created.release();
  } catch (const Error&) {  // another thread was first
    if (Variable* found = find(tensor)) return *found;
    throw;
  }
}

void Variable::set_leaf(bool requires_grad) {
  const ObjectLock lock(this);
  requires_grad_ = requires_grad;
  if (requires_grad && !accumulator_) accumulator_ = Ref<Accumulator>::adopt(new Accumulator(has_memory_));
}

void Variable::set_origin(Ref<Node> node, int output, uint64_t generation) {
  Ref<Node> replaced = node;
  Ref<Accumulator> unused, retained;
  size_t former_output = 0;
  {
    const ObjectLock lock(this);
    (is_leaf_ ? unused : retained) = accumulator_;
    if (is_leaf_) accumulator_ = {};  // of a leaf without a gradient
    std::swap(node_, replaced);
    former_output = static_cast<size_t>(std::exchange(output_, output));
    is_leaf_ = false;
    requires_grad_ = true;
    generation_ = generation;
  }
  if (!retained) return;
  replaced->collect(former_output, {});  // the gradient of the former value is another one
  node->collect(static_cast<size_t>(output), std::move(retained));
}

Edge Variable::edge() {
  const ObjectLock lock(this);
  if (!requires_grad_) return {};
  return node_ ? Edge{node_, output_, {}} : Edge{{}, 0, accumulator_};
}

bool Variable::requires_grad() {
  const ObjectLock lock(this);
  return requires_grad_;
}

bool Variable::is_leaf() {
  const ObjectLock lock(this);
  return is_leaf_;
}

Ref<Accumulator> Variable::accumulator() {
  const ObjectLock lock(this);
  return accumulator_;
}

void Variable::retain_grad() {
  const auto created = Ref<Accumulator>::adopt(new Accumulator(has_memory_));
  Ref<Node> node;
  size_t output = 0;
  {
    const ObjectLock lock(this);
    if (accumulator_ || !node_) return;
    accumulator_ = created;
    node = node_;
    output = static_cast<size_t>(output_);
  }
  node->collect(output, created);
}

uint64_t Variable::generation() {
  const ObjectLock lock(this);
  return generation_;
}

void Variable::start_generation() {
  const ObjectLock lock(this);
  ++generation_;
}

void Variable::keep_constant(const Tensor& view) {
  if (is_recording()) return;
  Variable* const base = find(*view.base());
  const uint64_t generation = base ? base->generation() : 0;
  if (generation == 0) return;
  Variable& own = of(view);
  const ObjectLock lock(&own);
  own.generation_ = generation;
}

void fail_without_gradient(const std::string& tensor) {
  fail(OF_INVALID_ARGUMENT, "%s does not require a gradient%s", tensor.c_str(),
       is_recording() ? ": it was made while calls were not recorded (no_grad), or of tensors that do not require one"
                      : ", and calls are not recorded here (no_grad)");
}

Edge edge_of(const Tensor& tensor) {
  Variable* own = Variable::find(tensor);
  if (tensor.is_view()) {
    Variable* const base = Variable::find(*tensor.base());
    if (base && base->generation() > (own ? own->generation() : 0)) {
      update_origin(tensor, *base);
      own = Variable::find(tensor);
    }
  }
  return own ? own->edge() : Edge{};
}

bool requires_grad(const Tensor& tensor) {
  Variable* const own = Variable::find(tensor);
  if (own && own->requires_grad()) return true;
  if (!tensor.is_view()) return false;
  Variable* const base = Variable::find(*tensor.base());
  return base && base->generation() > (own ? own->generation() : 0);
}

namespace {

// Returns a view of the whole tensor, as the result of a call.
TensorRef view_of(const Tensor& tensor) {
  Shape dims;
  for (int dim = 0; dim < tensor.rank(); ++dim) dims.push_back(dim);
  return call_operator(kPermute, tensor, dims);
}

// Returns a tensor like one without memory, which layers below this one may follow: to them it is a view.
TensorRef detached_form(const Tensor& tensor) {
  const uint32_t own = uint32_t{1} << OF_LAYER_AUTOGRAD;
  if ((tensor.carried_layers() & ~own) == 0) return Tensor::without_memory(tensor);
  const OpenLayers lower(thread_state.open_layers & ~own);
  return view_of(tensor);
}

}  // namespace

TensorRef detached(const Tensor& tensor) {
  if (!tensor.has_memory()) return detached_form(tensor);
  return Tensor::over(tensor.storage(), tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
}

void set_requires_grad(const Tensor& tensor, bool wanted) {
  if (wanted && !is_differentiable(tensor.dtype()))
    fail(OF_DTYPE_ERROR, "only floating-point and complex tensors have gradients, got %s", dtype_name(tensor.dtype()));
  if (edge_of(tensor).node) {
    if (!wanted) fail(OF_INVALID_ARGUMENT, "a result of a recorded call keeps its history; use detach");
    return;
  }
  if (wanted || Variable::find(tensor)) Variable::of(tensor).set_leaf(wanted);
}

TensorRef independent_variable(const Tensor& tensor, bool keeps_history) {
  if (keeps_history && requires_grad(tensor)) {
    const GradMode on(true);
    return view_of(tensor);
  }
  TensorRef leaf = detached(tensor);
  set_requires_grad(*leaf, true);
  return leaf;
}

TensorRef copy_of_leaf(const Tensor& tensor) {
  const Edge edge = edge_of(tensor);
  if (edge.node)
    fail(OF_INVALID_ARGUMENT,
         "the tensor must be a leaf, got the result of a recorded call (%s), whose history has no copy; use clone, or "
         "detach it first",
         edge.node->name());
  const GradMode off(false);
  TensorRef copy = call_operator(kLazyClone, tensor);
  if (!edge) return copy;
  set_requires_grad(*copy, true);
  if (const TensorRef grad = edge.leaf->grad())
    Variable::of(*copy).accumulator()->set_grad(call_operator(kLazyClone, grad));
  return copy;
}

}  // namespace oneflow::autograd
