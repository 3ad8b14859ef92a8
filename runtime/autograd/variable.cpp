#include "autograd/variable.h"

#include "autograd/mode.h"
#include "autograd/object_lock.h"
#include "autograd/record.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kAsStrided("as_strided");

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
  {
    const ObjectLock lock(this);
    (is_leaf_ ? unused : retained) = accumulator_;
    if (is_leaf_) accumulator_ = {};  // of a leaf without a gradient
    std::swap(node_, replaced);
    output_ = output;
    is_leaf_ = false;
    requires_grad_ = true;
    generation_ = generation;
  }
  if (retained) node->collect(static_cast<size_t>(output), std::move(retained));  // that of the former value as well
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
  if (Variable* own = Variable::find(tensor); own && own->requires_grad()) return true;
  if (!tensor.is_view()) return false;
  Variable* const base = Variable::find(*tensor.base());
  return base && base->generation() > 0;
}

namespace {

// Returns a tensor like one without memory, which layers below this one may follow: to them it is a view.
TensorRef detached_form(const Tensor& tensor) {
  static constinit const OperatorName permute("permute");
  const uint32_t own = uint32_t{1} << OF_LAYER_AUTOGRAD;
  if ((tensor.carried_layers() & ~own) == 0) return Tensor::without_memory(tensor);
  const OpenLayers lower(thread_state.open_layers & ~own);
  Shape dims;
  for (int dim = 0; dim < tensor.rank(); ++dim) dims.push_back(dim);
  return call_operator(permute, tensor, dims);
}

}  // namespace

TensorRef detached(const Tensor& tensor) {
  if (!tensor.has_memory()) return detached_form(tensor);
  return Tensor::over(tensor.storage(), tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
}

}  // namespace oneflow::autograd
