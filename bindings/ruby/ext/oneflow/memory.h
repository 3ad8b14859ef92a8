// Memory statistics and limits, garbage collection when memory runs out, and native work without Ruby's lock.
#pragma once

#include <oneflow/front_end.h>
#include <ruby.h>
#include <ruby/thread.h>

#include "grad_mode.h"

namespace oneflow::ruby {

// A marker: while one exists, this thread runs native code without Ruby's lock (the GVL).
class GvlReleased {
 public:
  GvlReleased();
  ~GvlReleased();
  GvlReleased(const GvlReleased&) = delete;
  GvlReleased& operator=(const GvlReleased&) = delete;
};

// Runs native work, without Ruby's lock if it may be long. Other threads must not change what it borrows.
// rb_thread_call_without_gvl2 does not raise, so that an interrupt cannot lose a result. If an interrupt is already
// pending, it returns without doing the work: the interrupt is handled, which may raise, and the work is tried again.
// Work whose interrupts are deferred runs with the lock held.
template <class Work>
of_status run_native(bool is_long, const Work& work) {
  enter_grad_mode();
  struct Task {
    const Work& work;
    of_status status;
    bool done;
  } task = {work, OF_OK, false};
  const auto run = [](void* context) -> void* {
    const GvlReleased released;
    Task& own = *static_cast<Task*>(context);
    own.status = own.work();
    own.done = true;
    return nullptr;
  };
  constexpr int kAttempts = 3;
  for (int attempt = 0; is_long && !task.done && attempt < kAttempts; ++attempt) {
    if (attempt > 0) rb_thread_check_ints();
    rb_thread_call_without_gvl2(run, &task, nullptr, nullptr);
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
