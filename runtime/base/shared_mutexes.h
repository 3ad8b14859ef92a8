// Mutexes that objects share: mutexes that survive forks live as long as the process, and objects do not.
#ifndef ONEFLOW_BASE_SHARED_MUTEXES_H_
#define ONEFLOW_BASE_SHARED_MUTEXES_H_

#include <cstdint>
#include <iterator>
#include <mutex>

#include "base/fork_safe.h"

namespace oneflow {

// The mutexes of the objects of one level. A thread locks one object at a time, for moments only: others may wait for
// the same mutex. Define them at namespace scope, as all mutexes that survive forks.
template <LockLevel level>
class SharedMutexes {
 public:
  std::mutex& of(const void* object) {
    return mutexes_[reinterpret_cast<uintptr_t>(object) / kCacheLine % std::size(mutexes_)];
  }

 private:
  static constexpr uintptr_t kCacheLine = 64;

  struct alignas(kCacheLine) Mutex : ForkSafe<std::mutex> {
    Mutex() : ForkSafe(level) {}
  };

  // So many that threads which use different objects seldom meet, and so few that ThreadSanitizer can follow a fork,
  // which locks the mutexes of all levels: at most 64.
  Mutex mutexes_[6];
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SHARED_MUTEXES_H_
