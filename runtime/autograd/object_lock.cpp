#include "autograd/object_lock.h"

#include "base/shared_mutexes.h"

namespace oneflow::autograd {

namespace {

SharedMutexes<LockLevel::kGradients> mutexes;

}  // namespace

std::mutex& ObjectLock::mutex_of(const void* object) { return mutexes.of(object); }

}  // namespace oneflow::autograd
