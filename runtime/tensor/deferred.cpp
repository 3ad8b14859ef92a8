#include "tensor/deferred.h"

#include <pthread.h>

#include <exception>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/fork_safe.h"
#include "tensor/storage.h"

namespace oneflow {

// What a thread does with deferred buffers.
struct MakingThread {
  Deferred* makes = nullptr;            // the innermost one that it computes
  const Deferred* waits_for = nullptr;  // the one that it waits for
};

namespace {

thread_local constinit MakingThread this_thread;

uint64_t process = 0;               // counts the forks that led to this process; written by the handler of forks only
std::atomic<uint32_t> makes_ended;  // for threads that wait

ForkSafe<std::mutex> mutex{LockLevel::kDeferred};  // guards the members of all objects

}  // namespace

const int Deferred::fork_handler_ = pthread_atfork(nullptr, nullptr, [] {
  ++process;
  for (Deferred* each = this_thread.makes; each; each = each->outer_) each->process_ = process;
});

MakingThread* Deferred::maker() const { return process_ == process ? maker_ : nullptr; }

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
  process_ = process;
  outer_ = std::exchange(this_thread.makes, this);
  lock.unlock();
  Ref<Buffer> made;
  std::exception_ptr failure;
  try {
    made = recipe_.make(recipe_.context);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  this_thread.makes = outer_;
  maker_ = nullptr;
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
