// Collectives that are under way, and the results of those that are done.
#ifndef ONEFLOW_PARALLEL_PROCESSES_WORK_H_
#define ONEFLOW_PARALLEL_PROCESSES_WORK_H_

#include <functional>
#include <memory>

#include "base/ref.h"
#include "parallel/processes/job.h"

namespace oneflow::processes {

// A collective that has begun. Its result is in memory of the host.
struct Work final : RefCounted<Work> {
  std::shared_ptr<Job> job;
  Ref<Operation> operation;           // NULL: there is nothing to wait for
  std::shared_ptr<TensorRef> result;  // set when the operation is done

  void destroy() { delete this; }
  bool is_done() const { return !operation || operation->state == Operation::State::kDone; }
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
