#include "base/fork_safe.h"

#include <pthread.h>

#include <atomic>
#include <utility>

namespace oneflow {

namespace {

constexpr int kLevels = static_cast<int>(LockLevel::kCount);

// The lists of the mutexes of each level, which only grow at their heads. They are not guarded by a mutex, because a
// thread that holds one of the mutexes may register another.
std::atomic<ForkedMutex*> heads[kLevels];
thread_local ForkedMutex* locked[kLevels];  // the heads when this thread began to fork

void lock_all() {
  for (int level = 0; level < kLevels; ++level) {
    locked[level] = heads[level].load(std::memory_order_acquire);
    for (ForkedMutex* each = locked[level]; each; each = each->next) each->lock(each->mutex);
  }
}

void unlock_all() {
  for (int level = kLevels; level-- > 0;)
    for (ForkedMutex* each = locked[level]; each; each = each->next) each->unlock(each->mutex);
}

thread_local constinit Ongoing* innermost = nullptr;  // the last mark of this thread

constinit uint64_t process = 1;

}  // namespace

uint64_t current_process() noexcept { return process; }

const int Ongoing::fork_handler_ = pthread_atfork(nullptr, nullptr, go_on_in_child);

void Ongoing::go_on_in_child() noexcept {
  ++process;
  for (Ongoing* each = innermost; each; each = each->outer_) each->process_ = process;
}

void Ongoing::set() noexcept {
  process_ = process;
  outer_ = std::exchange(innermost, this);
}

void Ongoing::clear() noexcept {
  process_ = 0;
  innermost = outer_;
}

bool Ongoing::is_set_by_this_thread() noexcept { return innermost != nullptr; }

void make_fork_safe(LockLevel level, ForkedMutex& mutex) {
  static const int handlers = pthread_atfork(lock_all, unlock_all, unlock_all);
  (void)handlers;
  std::atomic<ForkedMutex*>& head = heads[static_cast<int>(level)];
  mutex.next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(mutex.next, &mutex, std::memory_order_release)) {
  }
}

}  // namespace oneflow
