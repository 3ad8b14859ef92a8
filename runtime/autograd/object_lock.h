// The lock of an object of autograd.
#ifndef ONEFLOW_AUTOGRAD_OBJECT_LOCK_H_
#define ONEFLOW_AUTOGRAD_OBJECT_LOCK_H_

#include <mutex>

namespace oneflow::autograd {

// Locks the members of an object of autograd that several threads change, for moments only. Meanwhile the thread calls
// no operator, hook or deleter, because they may run code of users, which waits for the lock of its language, or comes
// back to the same object. What a member has referred to is therefore moved out of it, and released without the lock.
//
// Objects share mutexes (base/shared_mutexes.h). A thread locks one object at a time.
class [[nodiscard]] ObjectLock {
 public:
  explicit ObjectLock(const void* object) : lock_(mutex_of(object)) {}

 private:
  static std::mutex& mutex_of(const void* object);

  const std::lock_guard<std::mutex> lock_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_OBJECT_LOCK_H_
