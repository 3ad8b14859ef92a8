#include "autograd/hook.h"

#include "autograd/node.h"
#include "autograd/object_lock.h"
#include "base/error.h"
#include "base/shape.h"

namespace oneflow::autograd {

TensorRef Hook::apply(TensorRef grad) const {
  if (is_removed()) return grad;
  of_tensor replaced = nullptr;
  if (const of_status status = function_(context_, to_handle(grad.get()), &replaced); status != OF_OK)
    throw Error(status, last_error(), last_error_is_complete());
  if (!replaced) return grad;
  TensorRef other = TensorRef::adopt(to_tensor(replaced));
  if (!same_sizes(other->sizes(), grad->sizes()))
    fail(OF_SHAPE_ERROR, "a hook made a gradient of shape %s of one of shape %s", to_text(other->sizes()).c_str(),
         to_text(grad->sizes()).c_str());
  return in_form(std::move(other), Form::of(*grad));
}

void Hooks::add(Ref<Hook> hook) {
  std::vector<Ref<Hook>> removed;  // whose release may call the program, which it must not do under the lock
  const ObjectLock lock(this);
  for (Ref<Hook>& each : hooks_)
    if (each->is_removed()) removed.push_back(std::move(each));
  std::erase_if(hooks_, [](const Ref<Hook>& each) { return !each; });
  hooks_.push_back(std::move(hook));
}

TensorRef Hooks::apply(TensorRef grad) {
  std::vector<Ref<Hook>> hooks;
  {
    const ObjectLock lock(this);
    if (hooks_.empty()) return grad;
    hooks = hooks_;  // a hook may add hooks
  }
  for (const Ref<Hook>& hook : hooks) grad = hook->apply(std::move(grad));
  return grad;
}

}  // namespace oneflow::autograd
