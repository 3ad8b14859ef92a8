// What travels with work that is handed to another thread.
#ifndef ONEFLOW_DISPATCH_THREAD_CONTEXT_H_
#define ONEFLOW_DISPATCH_THREAD_CONTEXT_H_

#include "device/stream.h"
#include "device/work_observer.h"
#include "dispatch/layers.h"
#include "tensor/defaults.h"

namespace oneflow {

struct ThreadContext {
  ThreadState layers;
  ThreadDefaults defaults;
  ChosenStreams streams;

  // Returns what the calls of this thread start from.
  static ThreadContext current() {
    note_other_work();
    return {thread_state, thread_defaults(), ChosenStreams::current()};
  }
  // Makes the calls of this thread start from it.
  void apply() const {
    thread_state = layers;
    thread_defaults() = defaults;
    streams.apply();
  }
};

// Restores, at the end of its life, what the calls of the thread started from when it was created.
class KeptThreadContext {
 public:
  KeptThreadContext() = default;
  KeptThreadContext(const KeptThreadContext&) = delete;
  KeptThreadContext& operator=(const KeptThreadContext&) = delete;
  ~KeptThreadContext() { before_.apply(); }

 private:
  const ThreadContext before_ = ThreadContext::current();
};

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_THREAD_CONTEXT_H_
