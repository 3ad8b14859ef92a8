// Ruby's lock, which calls that take long do not hold.
#pragma once

#include <ruby.h>
#include <ruby/thread.h>

namespace commnet::ruby {

// Runs work() without Ruby's lock, and cannot be interrupted.
template <class Work>
void without_lock(const Work& work) {
  struct Task {
    const Work& work;
    bool done;
  } task = {work, false};
  const auto run = [](void* context) -> void* {
    static_cast<Task*>(context)->work();
    static_cast<Task*>(context)->done = true;
    return nullptr;
  };
  rb_nogvl(run, &task, nullptr, nullptr, RB_NOGVL_INTR_FAIL);
  if (!task.done) work();  // an interrupt is pending, which is handled later
}

}  // namespace commnet::ruby
