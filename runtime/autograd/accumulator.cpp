#include "autograd/accumulator.h"

#include <atomic>

#include "autograd/object_lock.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "base/interrupt.h"
#include "dispatch/dispatch.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kClone("clone");

std::atomic<uint32_t> turns_ended;  // for threads that wait

// Returns whether nobody else can see the memory of a gradient, so that later ones may be added to it in place. One
// without memory stands for a value of a graph, of which others may be views.
bool is_own(const Tensor& grad) {
  return grad.is_unique() && grad.is_contiguous() && !grad.is_view() && grad.has_memory() &&
         grad.storage()->is_unique();
}

// Returns whether a gradient can be stored without a copy. To one with a history, nothing is added in place.
bool is_storable(const Tensor& grad, bool records) { return is_own(grad) || (records && grad.carried_layers() != 0); }

}  // namespace

TensorRef Accumulator::grad() {
  const ObjectLock lock(this);
  return grad_;
}

void Accumulator::check_memory(const Tensor& grad) const {
  if (has_memory_ && !grad.has_memory())
    fail(OF_UNSUPPORTED,
         "a gradient that depends on the inputs of a graph cannot be kept in .grad of a tensor outside of it, which "
         "lives longer than the capture; use grad(), which returns it");
}

void Accumulator::set_grad(TensorRef grad) {
  if (grad) check_memory(*grad);
  const ObjectLock lock(this);
  std::swap(grad_, grad);
}

void Accumulator::add(TensorRef grad, bool records) {
  check_memory(*grad);
  if (is_storable(*grad, records) && replace({}, grad)) return;
  Addition next{std::move(grad), records};
  if (!take_turn(next)) return;
  const Uninterrupted scope;
  FirstFailure failure;
  do failure.keep_failure_of([&] { perform(next); });
  while (take_left(next));
  failure.rethrow();
}

bool Accumulator::take_turn(Addition& addition) {
  for (;;) {
    const uint32_t seen = turns_ended.load();
    {
      const ObjectLock lock(this);
      if (!turn_.is_set()) {
        turn_.set();
        return true;
      }
      if (Ongoing::is_set_by_this_thread()) {
        left_.push_back(std::move(addition));
        return false;
      }
    }
    turns_ended.wait(seen);
  }
}

bool Accumulator::take_left(Addition& addition) {
  const Addition performed = std::move(addition);  // released without the lock
  {
    const ObjectLock lock(this);
    if (!left_.empty()) {
      addition = std::move(left_.front());
      left_.erase(left_.begin());
      return true;
    }
    turn_.clear();
  }
  turns_ended.fetch_add(1);
  turns_ended.notify_all();
  return false;
}

void Accumulator::perform(Addition& addition) {
  TensorRef& grad = addition.grad;
  for (;;) {
    const TensorRef before = this->grad();
    if (before && !addition.records && before->carried_layers() == 0)
      return call_into("add", *before, *kAdd, before, grad);
    TensorRef after = before                                 ? call_operator(kAdd, before, grad)
                      : is_storable(*grad, addition.records) ? grad
                                                             : call_operator(kClone, grad);
    if (replace(before, after)) return;
  }
}

bool Accumulator::replace(const TensorRef& before, TensorRef& after) {
  const ObjectLock lock(this);
  if (grad_.get() != before.get()) return false;
  std::swap(grad_, after);
  return true;
}

}  // namespace oneflow::autograd
