// A free list per type and thread, for small objects that every call allocates and frees.
#ifndef ONEFLOW_BASE_FREE_LIST_H_
#define ONEFLOW_BASE_FREE_LIST_H_

#include <atomic>
#include <new>

#include "base/per_thread.h"
#include "base/sanitizer.h"

namespace oneflow {

// Implements operator new and operator delete of class T with a free list per thread, and counts the live objects.
template <class T>
class FreeList {
 public:
  // Returns uninitialized memory for one T: the most recently freed block of the calling thread, or new memory. Throws
  // std::bad_alloc.
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

  // Adds a block, which any thread may have allocated, to the calling thread's list, or frees it if the list is full.
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
    // The link stays readable: the main thread's list exists when the process ends, and the leak sanitizer follows it.
    poison_memory(state->head + 1, sizeof(T) - sizeof(Link));
  }

  // Returns the number of live objects in the process. Thread-safe.
  static int64_t live_count() {
    int64_t count = retired_.load(std::memory_order_relaxed);
    PerThread<State>::for_each([&](State& state) { count += state.live.load(std::memory_order_relaxed); });
    return count;
  }

 private:
  static constexpr int kCapacity = 1024;  // blocks per list

  struct Link {
    Link* next;
  };
  static_assert(sizeof(T) >= sizeof(Link));

  struct State {
    Link* head = nullptr;
    int count = 0;
    // Objects created minus objects destroyed on this thread; may be negative.
    std::atomic<int64_t> live{0};

    // Adds to the count without a read-modify-write operation: only the owning thread writes it.
    void add(int64_t change) { live.store(live.load(std::memory_order_relaxed) + change, std::memory_order_relaxed); }
    // Frees the list when its thread ends, and keeps its count.
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

  // The sum of the counts of threads that ended, and of allocations without a State.
  static inline constinit std::atomic<int64_t> retired_{0};
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_FREE_LIST_H_
