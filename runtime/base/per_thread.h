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
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    for (State* state : all.states) function(*state);
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
      Shared& all = shared();
      const std::lock_guard lock(all.mutex);
      std::erase(all.states, state);
      state->retire();
    }
    delete state;
  }

  // Never destroyed: threads may end after the process's static destructors have run.
  static Shared& shared() {
    static Shared& all = *new Shared;
    return all;
  }

  [[gnu::noinline]] static State* create() noexcept {
    if (local_.has_ended) return nullptr;
    // A pthread key rather than a thread_local object with a destructor: without memory to register a destructor, the
    // process is terminated.
    static const pthread_key_t key = [] {
      pthread_key_t created = PTHREAD_KEYS_MAX;  // an invalid key, for which pthread_setspecific() fails
      pthread_key_create(&created, end);
      return created;
    }();
    try {
      Shared& all = shared();
      const std::lock_guard lock(all.mutex);
      all.states.reserve(all.states.size() + 1);
      auto state = std::make_unique<State>();
      if (pthread_setspecific(key, state.get()) != 0) return nullptr;
      local_.state = state.release();
      all.states.push_back(local_.state);
      return local_.state;
    } catch (...) {
      return nullptr;
    }
  }

  // Two words in the static TLS block, which one instruction reaches without a call to the dynamic loader.
  static inline thread_local constinit Local local_ __attribute__((tls_model("initial-exec"))) = {};
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_PER_THREAD_H_
