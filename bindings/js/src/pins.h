// JavaScript objects that keep memory shared with tensors alive.
#pragma once

#include <node_api.h>

#include <memory>
#include <mutex>
#include <vector>

namespace oneflow::node {

// The runtime may drop the last tensor over shared memory on any thread, but a reference to a JavaScript object can
// only be deleted on the thread of its environment: what is dropped elsewhere waits in a list until then.
class Pins : public std::enable_shared_from_this<Pins> {
 public:
  explicit Pins(napi_env env) : env_(env) {}

  // Keeps `value` alive until unpin() is called with what this returns, on any thread; NULL on failure.
  void* pin(napi_value value);
  // An of_deleter.
  static void unpin(void* pinned);
  // The environment ends: its references go with it.
  void close();

 private:
  struct Pinned {
    std::shared_ptr<Pins> owner;
    napi_ref reference;
  };

  bool start_waking();
  void delete_dropped();

  napi_env env_;
  std::mutex mutex_;
  std::vector<napi_ref> dropped_;
  napi_threadsafe_function wake_ = nullptr;
  bool closed_ = false;
};

}  // namespace oneflow::node
