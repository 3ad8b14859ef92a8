// State that every thread has its own copy of, reachable in one load, and that the others can sum over.
#ifndef ONEFLOW_BASE_PER_THREAD_H_
#define ONEFLOW_BASE_PER_THREAD_H_

#include <pthread.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <mutex>
#include <vector>

namespace oneflow {

// `State` is default-constructible and has `void retire() noexcept`, which hands over what it holds when its thread
// ends. One State per type and thread.
template <class State>
class PerThread {
 public:
  // This thread's state. NULL when there is none any more, because the thread's destructors are running, or there is no
  // memory for it: callers then take their slow path.
  static State* get() noexcept {
    if (local_.state) [[likely]]
      return local_.state;
    return create();
  }

  // Calls function(State&) for the states of all threads while none can appear or retire.
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
    std::mutex mutex;
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

  // Never destroyed: threads may end after the process's static destructors ran.
  static Shared& shared() {
    static Shared& all = *[] {
      // A fork while another thread holds the lock would leave it locked in the child for ever.
      pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); }, [] { shared().mutex.unlock(); });
      return new Shared;
    }();
    return all;
  }

  [[gnu::noinline]] static State* create() noexcept {
    if (local_.has_ended) return nullptr;
    // Not an object with a destructor: a process that has no memory to register one is ended.
    static const pthread_key_t key = [] {
      pthread_key_t created = PTHREAD_KEYS_MAX;  // no key: pthread_setspecific() refuses it
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

  // Two words of the thread's static block: one instruction to reach, instead of a call to the loader.
  static inline thread_local constinit Local local_ __attribute__((tls_model("initial-exec"))) = {};
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_PER_THREAD_H_
