// Hooks of tensors.
#ifndef ONEFLOW_OBJECTS_HOOK_H_
#define ONEFLOW_OBJECTS_HOOK_H_

#include <oneflow/autograd.h>

#include "base/ref.h"
#include "objects/handle.h"

namespace oneflow::objects {

class Hook : public RefCounted<Hook> {
 public:
  explicit Hook(of_hook hook) : hook_(hook) {}
  void destroy() noexcept { delete this; }

  // Removes the hook from its tensor; not if that was done before.
  void remove() { of_hook_remove(hook_.get()); }

 private:
  const Owned<of_hook, of_hook_release> hook_;
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_HOOK_H_
