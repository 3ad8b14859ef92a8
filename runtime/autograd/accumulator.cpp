#include "autograd/accumulator.h"

#include "dispatch/dispatch.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kClone("clone");

// Returns whether nobody else can see the memory of a gradient, so that later ones may be added to it in place.
bool is_own(const Tensor& grad) {
  return grad.is_unique() && grad.is_contiguous() && !grad.is_view() && grad.storage()->is_unique();
}

}  // namespace

TensorRef Accumulator::grad() {
  const std::lock_guard lock(mutex_);
  return grad_;
}

void Accumulator::set_grad(TensorRef grad) {
  const std::lock_guard lock(mutex_);
  std::swap(grad_, grad);
}

void Accumulator::add(TensorRef grad, bool records) {
  const std::lock_guard one_at_a_time(adding_);
  const TensorRef present = this->grad();
  if (!present) {
    set_grad(records || is_own(*grad) ? std::move(grad) : call_operator(kClone, grad));
  } else if (records || present->carried_layers() != 0) {
    set_grad(call_operator(kAdd, present, grad));
  } else {
    call_into("add", *present, *kAdd, present, grad);
  }
}

}  // namespace oneflow::autograd
