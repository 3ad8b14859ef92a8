#include "autograd/node.h"

#include "autograd/object_lock.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "dispatch/program_body.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kCast("cast");
constinit const OperatorName kReal("real");
constinit const OperatorName kReshape("reshape");
constinit const OperatorName kSum("sum");
constinit const OperatorName kToDevice("to_device");
constinit const OperatorName kZeros("zeros");

std::atomic<uint64_t> next_number{1};

}  // namespace

class Node::Run {
 public:
  explicit Run(Node& node) : node_(node) {
    int before = node.runs_.load();
    do {
      if (before & kFreed)
        fail(OF_INVALID_ARGUMENT,
             "what the gradient of %s needs was freed by an earlier backward pass, which needs the argument "
             "retain_graph=True",
             node.name());
    } while (!node.runs_.compare_exchange_weak(before, before + kRun));
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    if (node_.runs_.fetch_sub(kRun) == (kFreed | kRun)) node_.release_saved();
  }

 private:
  Node& node_;
};

Gradients Node::run(const Gradients& grads, const std::vector<bool>& wanted) {
  const Run begun(*this);
  return compute(grads, wanted);
}

void Node::free_saved() noexcept {
  if (runs_.fetch_or(kFreed) == 0) release_saved();
}

void Node::add_edge(Edge edge, const Tensor& operand) {
  edges_.push_back(std::move(edge));
  edge_forms_.push_back(Form::of(operand));
}

void Node::add_output(const Tensor& output) {
  if (outputs_.empty()) number_ = next_number.fetch_add(1, std::memory_order_relaxed);
  outputs_.push_back({Form::of(output), {}, {}});
}

Hooks& Node::hooks(size_t output) {
  const ObjectLock lock(this);
  auto& hooks = outputs_[output].hooks;
  if (!hooks) hooks = std::make_unique<Hooks>();
  return *hooks;
}

void Node::collect(size_t output, Ref<Accumulator> accumulator) {
  const ObjectLock lock(this);
  std::swap(outputs_[output].collector, accumulator);
}

Ref<Accumulator> Node::collector(size_t output) {
  const ObjectLock lock(this);
  return outputs_[output].collector;
}

Gradients Node::with_zeros(Gradients grads) const {
  for (size_t i = 0; i < grads.size(); ++i) {
    const Form& form = output_form(i);
    if (!grads[i]) grads[i] = call_operator(kZeros, form.sizes, form.dtype, form.device);
  }
  return grads;
}

void Node::destroy() noexcept {
  static thread_local constinit Node* waiting = nullptr;
  static thread_local constinit bool is_freeing = false;
  next_freed_ = waiting;
  waiting = this;
  if (is_freeing) return;
  is_freeing = true;
  while (waiting) {
    Node* const freed = waiting;
    waiting = freed->next_freed_;
    delete freed;
  }
  is_freeing = false;
}

TensorRef in_form(TensorRef grad, const Form& form) {
  if (is_complex(grad->dtype()) && !is_complex(form.dtype)) grad = call_operator(kReal, grad);
  if (!same_sizes(grad->sizes(), form.sizes)) {
    const int added = grad->rank() - form.sizes.rank();
    Shape dims;
    for (int d = 0; d < grad->rank(); ++d)
      if (d < added || (form.sizes[d - added] == 1 && grad->size(d) != 1)) dims.push_back(d);
    if (dims.rank() > 0) grad = call_operator(kSum, grad, dims, true);
    if (added > 0) grad = call_operator(kReshape, grad, form.sizes);
  }
  if (grad->dtype() != form.dtype) grad = call_operator(kCast, grad, form.dtype);
  if (!(grad->device() == form.device)) grad = call_operator(kToDevice, grad, form.device);
  return grad;
}

}  // namespace oneflow::autograd
