#include "tensor/deferred.h"

#include <exception>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "tensor/storage.h"

namespace oneflow {

// The deferred buffer that a thread waits for.
struct MakingThread {
  const Deferred* waits_for = nullptr;
};

namespace {

thread_local constinit MakingThread this_thread;

std::atomic<uint32_t> makes_ended;  // for threads that wait

ForkSafe<std::mutex> mutex{LockLevel::kDeferred};  // guards the members of all objects

}  // namespace

MakingThread* Deferred::maker() const { return making_.is_set() ? maker_ : nullptr; }

void Deferred::check_that_no_thread_waits_for_itself() const {
  const Deferred* needed = this;
  while (needed) {
    const MakingThread* maker = needed->maker();
    if (!maker) return;
    if (maker == &this_thread)
      fail(OF_INTERNAL_ERROR, "the function that computes the elements of a deferred tensor needs these elements");
    needed = maker->waits_for;
  }
}

void Deferred::make_into(std::atomic<Buffer*>& buffer) {
  std::unique_lock lock(mutex);
  while (!buffer.load(std::memory_order_relaxed) && maker()) {
    check_that_no_thread_waits_for_itself();
    this_thread.waits_for = this;
    const uint32_t seen = makes_ended.load();
    lock.unlock();
    makes_ended.wait(seen);
    lock.lock();
    this_thread.waits_for = nullptr;
  }
  if (buffer.load(std::memory_order_relaxed)) return;

  maker_ = &this_thread;
  making_.set();
  lock.unlock();
  Ref<Buffer> made;
  std::exception_ptr failure;
  try {
    made = recipe_.make(recipe_.context);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  making_.clear();
  if (!failure) buffer.store(made.detach(), std::memory_order_release);
  makes_ended.fetch_add(1);
  lock.unlock();
  makes_ended.notify_all();
  if (failure) std::rethrow_exception(failure);
  destroy_context();
}

void Deferred::destroy_context() {
  if (const of_deleter destroy = std::exchange(recipe_.destroy, nullptr)) destroy(recipe_.context);
}

}  // namespace oneflow
