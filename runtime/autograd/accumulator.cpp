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
  TensorRef replaced;  // freed without the lock
  const std::lock_guard lock(mutex_);
  if (!grad_) {
    grad_ = records || is_own(*grad) ? std::move(grad) : call_operator(kClone, grad);
  } else if (records || grad_->carried_layers() != 0) {
    replaced = std::exchange(grad_, call_operator(kAdd, grad_, grad));
  } else {
    call_into("add", *grad_, *kAdd, grad_, grad);
  }
}

}  // namespace oneflow::autograd
