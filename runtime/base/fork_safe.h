// Mutexes that a forked child can lock, whatever other threads do while the process forks, and marks that tell it
// whether the work of a thread still goes on.
//
// Define a process-wide mutex at namespace scope, not as a function-local static: if another thread initializes a
// function-local static during the fork, its guard stays locked in the child.
#ifndef ONEFLOW_BASE_FORK_SAFE_H_
#define ONEFLOW_BASE_FORK_SAFE_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace oneflow {

// The order in which a thread may lock several mutexes, and in which a fork locks all of them. The thread that forks
// may hold those of the first level.
enum class LockLevel {
  kDiscovery,
  kObjects,
  kJobs,
  kGroups,
  kSessions,
  kProfile,
  kGradients,
  kLayers,
  kRegistry,
  kDevice,
  kStream,
  kUses,
  kAllocators,
  kPressure,
  kThreads,
  kAllocator,
  kGenerators,
  kDeferred,
  kCount
};

// A mutex that a fork locks, with what it needs for that.
struct ForkedMutex {
  void* mutex;
  void (*lock)(void*);
  void (*unlock)(void*);
  ForkedMutex* next = nullptr;
};

// Registers a mutex, which must never be destroyed.
void make_fork_safe(LockLevel level, ForkedMutex& mutex);

// A recursive mutex that the thread which forks still owns in the child. It cannot unlock a std::recursive_mutex there,
// because the system gives it another number.
class RecursiveMutex {
 public:
  void lock() {
    const pthread_t self = pthread_self();
    if (owner_.load(std::memory_order_relaxed) != self) {
      mutex_.lock();
      owner_.store(self, std::memory_order_relaxed);
    }
    ++depth_;
  }
  void unlock() {
    if (--depth_ != 0) return;
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<pthread_t> owner_{0};  // 0: none
  int depth_ = 0;                    // how often the owner has locked it
};

// A mutex that is registered.
template <class Mutex>
class ForkSafe : public Mutex {
 public:
  explicit ForkSafe(LockLevel level)
      : own_{static_cast<Mutex*>(this), [](void* mutex) { static_cast<Mutex*>(mutex)->lock(); },
             [](void* mutex) { static_cast<Mutex*>(mutex)->unlock(); }} {
    make_fork_safe(level, own_);
  }

 private:
  ForkedMutex own_;
};

// Returns 1 + the number of forks that led to this process: it tells a forked child from its parent without a system
// call.
uint64_t current_process() noexcept;

// A mark of work that a thread does, for which others wait. In a forked child, it is only set if the thread that forked
// has set it: no other work goes on there. A thread that sets several marks clears the last one first. The caller
// guards each mark with a mutex.
class Ongoing {
 public:
  Ongoing() = default;
  Ongoing(const Ongoing&) = delete;
  Ongoing& operator=(const Ongoing&) = delete;

  bool is_set() const { return process_ == current_process(); }
  void set() noexcept;
  void clear() noexcept;
  // Returns whether the calling thread has set a mark.
  static bool is_set_by_this_thread() noexcept;

 private:
  static void go_on_in_child() noexcept;
  static const int fork_handler_;

  uint64_t process_ = 0;      // in which the work goes on; 0: none
  Ongoing* outer_ = nullptr;  // the mark that the same thread has set before
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_FORK_SAFE_H_
