// Memory for small objects that come and go at every call: a list of free blocks per type and thread.
#ifndef ONEFLOW_BASE_FREE_LIST_H_
#define ONEFLOW_BASE_FREE_LIST_H_

#include <atomic>
#include <new>

#include "base/per_thread.h"
#include "base/sanitizer.h"

namespace oneflow {

// operator new and delete of a class, which also count its living objects.
template <class T>
class FreeList {
 public:
  static void* allocate() {
    State* state = PerThread<State>::get();
    if (!state) [[unlikely]] {
      void* memory = ::operator new(sizeof(T));
      retired_.fetch_add(1, std::memory_order_relaxed);
      return memory;
    }
    Link* link = state->head;
    if (!link) [[unlikely]] {
      void* memory = ::operator new(sizeof(T));
      state->add(1);
      return memory;
    }
    state->add(1);
    unpoison_memory(link, sizeof(T));
    state->head = link->next;
    --state->count;
    return link;
  }

  static void free(void* memory) noexcept {
    State* state = PerThread<State>::get();
    if (!state) [[unlikely]] {
      retired_.fetch_sub(1, std::memory_order_relaxed);
      return ::operator delete(memory);
    }
    state->add(-1);
    if (state->count == kCapacity) [[unlikely]]
      return ::operator delete(memory);
    state->head = new (memory) Link{state->head};
    ++state->count;
    // All but the link, which the leak sanitizer follows: the main thread's list is still there when the process ends.
    poison_memory(state->head + 1, sizeof(T) - sizeof(Link));
  }

  // Objects alive in the process.
  static int64_t live_count() {
    int64_t count = retired_.load(std::memory_order_relaxed);
    PerThread<State>::for_each([&](State& state) { count += state.live.load(std::memory_order_relaxed); });
    return count;
  }

 private:
  static constexpr int kCapacity = 1024;

  struct Link {
    Link* next;
  };
  static_assert(sizeof(T) >= sizeof(Link));

  struct State {
    Link* head = nullptr;
    int count = 0;
    // Created minus destroyed on this thread; may be negative. Only its thread writes, so no read-modify-write is
    // needed.
    std::atomic<int64_t> live{0};

    void add(int64_t change) { live.store(live.load(std::memory_order_relaxed) + change, std::memory_order_relaxed); }
    void retire() noexcept {
      retired_.fetch_add(live.load(std::memory_order_relaxed), std::memory_order_relaxed);
      while (head) {
        Link* link = head;
        unpoison_memory(link, sizeof(T));
        head = link->next;
        ::operator delete(link);
      }
    }
  };

  static inline constinit std::atomic<int64_t> retired_{0};  // the counts of threads that ended
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_FREE_LIST_H_
