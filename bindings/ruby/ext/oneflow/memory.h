// Memory statistics and limits, garbage collection when memory runs out, and native work without Ruby's lock.
#pragma once

#include <oneflow/front_end.h>
#include <ruby.h>
#include <ruby/thread.h>

#include <atomic>

#include "tensor/grad_mode.h"

namespace oneflow::ruby {

// A marker: while one exists, this thread runs native code without Ruby's lock (the GVL).
class GvlReleased {
 public:
  GvlReleased();
  ~GvlReleased();
  GvlReleased(const GvlReleased&) = delete;
  GvlReleased& operator=(const GvlReleased&) = delete;
};

// Whether work that was interrupted can be done again from its beginning: not if it changes tensors or draws random
// numbers.
enum class Interrupted { kWaits, kRepeats };

// Runs native work, without Ruby's lock if it may be long. Other threads must not change what it borrows.
//
// With these flags, rb_nogvl does not raise, so that an interrupt cannot lose a result, and waits for no timer thread,
// which would cost more than most work. If an interrupt is already pending, it returns without doing the work; one that
// comes later ends work that can be repeated. The interrupt is then handled, which raises for Timeout, Thread#raise and
// Ctrl-C. Otherwise, after a handler of trap(), the work is tried again. Work that is interrupted too often, or whose
// interrupts are deferred, runs with the lock held.
template <class Work>
of_status run_native(bool is_long, const Work& work, Interrupted when_interrupted = Interrupted::kWaits) {
  enter_grad_mode();
  struct Task {
    const Work& work;
    const bool can_repeat;
    of_status status = OF_OK;
    bool done = false;
    std::atomic<bool> interrupted{false};
  } task = {work, when_interrupted == Interrupted::kRepeats};
  const auto run = [](void* context) -> void* {
    const GvlReleased released;
    Task& own = *static_cast<Task*>(context);
    const auto is_interrupted = [](void* flag) { return static_cast<std::atomic<bool>*>(flag)->load(); };
    if (own.can_repeat) of_set_interrupt_check(is_interrupted, &own.interrupted, nullptr, nullptr);
    own.status = own.work();
    of_set_interrupt_check(nullptr, nullptr, nullptr, nullptr);
    // A Ruby function that raises ends the work with this status, too.
    own.done = own.status != OF_INTERRUPTED || !own.can_repeat || !own.interrupted;
    return nullptr;
  };
  // A signal handler may call this function.
  const auto interrupt = [](void* context) { static_cast<Task*>(context)->interrupted = true; };
  constexpr int kAttempts = 5;
  for (int attempt = 0; is_long && !task.done && attempt < kAttempts; ++attempt) {
    if (attempt > 0) rb_thread_check_ints();
    task.interrupted = false;
    rb_nogvl(run, &task, interrupt, &task, RB_NOGVL_INTR_FAIL | RB_NOGVL_UBF_ASYNC_SAFE);
  }
  return task.done ? task.status : work();
}

// Calls a function with Ruby's lock: from native work that runs without it, or from code that holds it. The function
// must not raise. Returns false on a thread that does not belong to Ruby, without a call.
bool call_with_gvl(void* (*function)(void*), void* context);

// Returns the device that an optional argument names, or the default device for nil.
of_device device_argument(const char* function, VALUE name);

// Defines the functions and registers the memory-pressure callback.
void define_memory(VALUE module);

}  // namespace oneflow::ruby
