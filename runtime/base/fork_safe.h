// Mutexes that are never left locked in a forked child, whatever other threads do while the process forks.
#ifndef ONEFLOW_BASE_FORK_SAFE_H_
#define ONEFLOW_BASE_FORK_SAFE_H_

#include <mutex>

namespace oneflow {

// The order in which a thread may lock several mutexes, and in which a fork locks all of them. The thread that forks
// may hold those of the first level.
enum class LockLevel {
  kDiscovery,
  kProfile,
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

}  // namespace oneflow

#endif  // ONEFLOW_BASE_FORK_SAFE_H_
