// Collectives that are under way, and the results of those that are done.
#ifndef ONEFLOW_PARALLEL_PROCESSES_WORK_H_
#define ONEFLOW_PARALLEL_PROCESSES_WORK_H_

#include <functional>
#include <memory>

#include "base/ref.h"
#include "dispatch/call.h"
#include "parallel/processes/job.h"
#include "parallel/processes/route.h"

namespace oneflow::processes {

// A collective that has begun.
struct Work final : RefCounted<Work> {
  std::shared_ptr<Job> job;
  Ref<Operation> operation;          // NULL: there is nothing to wait for
  std::shared_ptr<Outcome> outcome;  // set when the operation is done

  void destroy() { delete this; }
  bool is_done() const { return !operation || operation->state == Operation::State::kDone; }
  // Calls a function once it is done: at once, or later by the thread that works.
  void on_done(std::function<void()> function);
};

// The collective that this thread waited for when it was interrupted. If the same call is repeated, as front ends do
// whose interrupts may raise nothing, it waits on; else, the collective goes on without it.
struct InterruptedCall {
  Ref<Work> work;
  const Schema* schema = nullptr;
  TensorRef input;

  static InterruptedCall& of_this_thread();
  // Returns the work if a call repeats it. Forgets it in any case.
  Ref<Work> take(const Call& call);
};

// While it lives, calls of collectives on this thread only begin, and give no result.
class Starting {
 public:
  Starting();
  ~Starting();
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;
  // Returns what the call has begun; NULL if it was no collective between processes.
  Ref<Work> work;

  static Starting* current();

 private:
  Starting* const outer_;
};

// While it lives, the next collective that is called on this thread is one that has begun before.
class Finishing {
 public:
  explicit Finishing(Ref<Work> work);
  ~Finishing();
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;

  // Returns the work, once; then NULL.
  static Ref<Work> take();

 private:
  Ref<Work> work_;
  Finishing* const outer_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_WORK_H_
