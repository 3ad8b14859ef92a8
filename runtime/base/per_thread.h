// Thread-local state that its thread reaches with one load, and that other threads can iterate over.
#ifndef ONEFLOW_BASE_PER_THREAD_H_
#define ONEFLOW_BASE_PER_THREAD_H_

#include <pthread.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fork_safe.h"

namespace oneflow {

// Manages one object of type State per thread. State is default-constructible and has a member `void retire()
// noexcept`, which is called when its thread ends and transfers what the object holds.
template <class State>
class PerThread {
 public:
  // Returns the calling thread's state. Returns null if the state was already destroyed because the thread is ending,
  // or if there is no memory for it; callers then use a slower path without it.
  static State* get() noexcept {
    if (local_.state) [[likely]]
      return local_.state;
    return create();
  }

  // Calls function(State&) for the states of all threads. Meanwhile, no state is created or retired.
  template <class Function>
  static void for_each(Function&& function) {
    const std::lock_guard lock(all_.mutex);
    for (State* state : all_.states) function(*state);
  }

 private:
  struct Local {
    State* state = nullptr;
    bool has_ended = false;
  };
  struct Shared {
    ForkSafe<std::mutex> mutex{LockLevel::kThreads};
    std::vector<State*> states;
  };
  static void end(void* state_of_thread) {
    State* state = static_cast<State*>(state_of_thread);
    local_ = {nullptr, true};
    {
      const std::lock_guard lock(all_.mutex);
      std::erase(all_.states, state);
      state->retire();
    }
    delete state;
  }

  [[gnu::noinline]] static State* create() noexcept {
    if (local_.has_ended) return nullptr;
    try {
      const std::lock_guard lock(all_.mutex);
      all_.states.reserve(all_.states.size() + 1);
      auto state = std::make_unique<State>();
      if (pthread_setspecific(key_, state.get()) != 0) return nullptr;
      local_.state = state.release();
      all_.states.push_back(local_.state);
      return local_.state;
    } catch (...) {
      return nullptr;
    }
  }

  // Never destroyed: threads may end after the process's static destructors have run.
  static inline Shared& all_ = *new Shared;

  // A pthread key rather than a thread_local object with a destructor: without memory to register a destructor, the
  // process is terminated.
  static inline const pthread_key_t key_ = [] {
    pthread_key_t created = PTHREAD_KEYS_MAX;  // an invalid key, for which pthread_setspecific() fails
    pthread_key_create(&created, end);
    return created;
  }();

  // Two words in the static TLS block, which one instruction reaches without a call to the dynamic loader.
  static inline thread_local constinit Local local_ __attribute__((tls_model("initial-exec"))) = {};
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_PER_THREAD_H_
