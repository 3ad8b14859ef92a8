// References to JavaScript objects that the runtime uses: memory that tensors share, functions of backward passes.
#pragma once

#include <node_api.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace oneflow::node {

// The references of one environment. The runtime may release the last tensor over shared memory on any thread, but a
// reference to a JavaScript object can only be deleted on the thread of its environment. Dropped references are
// therefore put into a list, and that thread is woken to delete them.
class Pins : public std::enable_shared_from_this<Pins> {
 public:
  explicit Pins(napi_env env) : env_(env) {}

  // Keeps `value` alive until unpin() is called, on any thread, with the returned pointer. Returns NULL on failure.
  void* pin(napi_value value);
  // Returns the value that pin() keeps alive; NULL on another thread than that of the environment, or after its end.
  static napi_value value(void* pinned);
  // Drops the reference that pin() returned; an of_deleter. Thread-safe.
  static void unpin(void* pinned);
  // Deletes the dropped references. Called when the environment ends, which frees the remaining ones; later calls of
  // unpin() do nothing.
  void close();

 private:
  // A reference with its owner, which it keeps alive for unpin().
  struct Pinned {
    std::shared_ptr<Pins> owner;
    napi_ref reference;
  };

  // Creates the function that wakes the thread of the environment, on the first call. Returns false on failure.
  bool start_waking();
  // Deletes the references that unpin() dropped. Called only on the thread of the environment.
  void delete_dropped();

  napi_env env_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<napi_ref> dropped_;
  napi_threadsafe_function wake_ = nullptr;
  bool closed_ = false;
};

}  // namespace oneflow::node
