#include "pins.h"

namespace oneflow::node {

bool Pins::start_waking() {
  if (wake_ != nullptr) return true;
  napi_value name;
  if (napi_create_string_utf8(env_, "oneflow pins", NAPI_AUTO_LENGTH, &name) != napi_ok) return false;
  const auto on_wake = [](napi_env env, napi_value, void* context, void*) {
    if (env != nullptr) static_cast<Pins*>(context)->delete_dropped();
  };
  if (napi_create_threadsafe_function(env_, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, on_wake, &wake_) !=
      napi_ok) {
    return false;
  }
  napi_unref_threadsafe_function(env_, wake_);  // a waiting function must not keep the process alive
  return true;
}

void* Pins::pin(napi_value value) {
  if (!start_waking()) return nullptr;
  delete_dropped();
  auto pinned = std::make_unique<Pinned>(Pinned{shared_from_this(), nullptr});
  if (napi_create_reference(env_, value, 1, &pinned->reference) != napi_ok) return nullptr;
  return pinned.release();
}

napi_value Pins::value(void* pinned) {
  const Pinned& kept = *static_cast<Pinned*>(pinned);
  napi_value value = nullptr;
  if (std::this_thread::get_id() == kept.owner->thread_ && !kept.owner->closed_)
    napi_get_reference_value(kept.owner->env_, kept.reference, &value);
  return value;
}

void Pins::unpin(void* raw) {
  const std::unique_ptr<Pinned> pinned(static_cast<Pinned*>(raw));
  Pins& self = *pinned->owner;
  const std::lock_guard<std::mutex> lock(self.mutex_);
  if (self.closed_) return;
  self.dropped_.push_back(pinned->reference);
  napi_call_threadsafe_function(self.wake_, nullptr, napi_tsfn_nonblocking);
}

void Pins::delete_dropped() {
  std::vector<napi_ref> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped.swap(dropped_);
  }
  for (napi_ref reference : dropped) napi_delete_reference(env_, reference);
}

void Pins::close() {
  delete_dropped();
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
}

}  // namespace oneflow::node
