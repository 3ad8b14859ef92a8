// Calls of collectives that have begun, with their arguments.
#ifndef ONEFLOW_PARALLEL_PROCESSES_STARTED_CALL_H_
#define ONEFLOW_PARALLEL_PROCESSES_STARTED_CALL_H_

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "dispatch/operator.h"
#include "parallel/processes/work.h"

namespace oneflow::processes {

// It begins below the layers, which see the call when it finishes: gradients are recorded then, for example.
class StartedCall final : public RefCounted<StartedCall> {
 public:
  // Begins a call. Throws Unsupported for an operator that is no collective between processes.
  static Ref<StartedCall> start(const Operator& op, std::span<const of_value> arguments);
  void destroy() { delete this; }

  const Work& work() const { return *work_; }
  Work& work() { return *work_; }
  // Waits for the call, and returns its result.
  TensorRef finish();

 private:
  explicit StartedCall(const Operator& op) : op_(op) {}

  const Operator& op_;
  std::vector<of_value> arguments_;
  std::vector<TensorRef> tensors_;                   // among them
  std::vector<std::unique_ptr<std::string>> texts_;  // likewise
  Ref<Work> work_;
  std::mutex mutex_;
  TensorRef result_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_STARTED_CALL_H_
