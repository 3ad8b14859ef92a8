#include "autograd/object_lock.h"

#include <cstdint>

#include "base/fork_safe.h"

namespace oneflow::autograd {

namespace {

constexpr uintptr_t kCacheLine = 64;

struct alignas(kCacheLine) SharedMutex : ForkSafe<std::mutex> {
  SharedMutex() : ForkSafe(LockLevel::kGradients) {}
};

// So many that threads which record calls seldom meet.
SharedMutex mutexes[16];

}  // namespace

std::mutex& ObjectLock::mutex_of(const void* object) {
  return mutexes[reinterpret_cast<uintptr_t>(object) / kCacheLine % std::size(mutexes)];
}

}  // namespace oneflow::autograd
