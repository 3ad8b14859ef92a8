// Memory statistics, limits, and what happens when memory runs out; Ruby's lock.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>
#include <ruby/thread.h>

namespace oneflow::ruby {

// While one lives, this thread runs native code without Ruby's lock.
class GvlReleased {
 public:
  GvlReleased();
  ~GvlReleased();
  GvlReleased(const GvlReleased&) = delete;
  GvlReleased& operator=(const GvlReleased&) = delete;
};

// The number of elements from which on work may take so long that other Ruby threads should run meanwhile. Letting go
// of the lock costs about as much as adding a thousand numbers.
constexpr double kLong = 1 << 13;

// Does native work, without Ruby's lock where it may be long. What it borrows must stay as it is while other threads
// run. rb_thread_call_without_gvl2 raises nothing, so that no result is lost to an interrupt; when one is already
// waiting it does not do the work at all, which is then done with the lock.
template <class Work>
of_status run_native(bool is_long, const Work& work) {
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
  if (is_long) rb_thread_call_without_gvl2(run, &task, nullptr, nullptr);
  return task.done ? task.status : work();
}

// The device that an optional argument names; the default one for nil.
of_device device_argument(const char* function, VALUE name);

void define_memory(VALUE module);

}  // namespace oneflow::ruby
