// One run of a program that is captured: the layer that records its calls. Nothing is computed but shapes and dtypes.
#ifndef ONEFLOW_GRAPH_CAPTURE_RECORDING_H_
#define ONEFLOW_GRAPH_CAPTURE_RECORDING_H_

#include <pthread.h>

#include <atomic>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/ref.h"
#include "dispatch/call.h"
#include "graph/program/program.h"

namespace oneflow::graph {

// A value in one run.
struct RecordedValue {
  of_dtype dtype;
  of_device device;
  Shape sizes;
  // The value that it is a view of, or may be; itself for others.
  ValueId root;
};

// The calls of constants in several runs of a program, each of which is computed once.
class ConstantCalls {
 public:
  // Starts the next run.
  void start_run() { next_ = 0; }
  // Computes a call, or returns the results that it had in an earlier run.
  void run(of_layer_call& state);

 private:
  struct Done {
    const Operator* op;
    std::vector<Argument> arguments;
    std::vector<TensorRef> operands, results;
  };

  std::vector<Done> done_;  // in their order in the first run
  size_t next_ = 0;
};

// The composite operators that are recorded as they are called; others are recorded as the calls in their bodies. None:
// all are recorded as they are called.
using Kept = std::optional<std::set<const Operator*>>;

// The calls of one run. Its values are tensors without memory, which carry their numbers; other tensors that it uses
// are constants.
class Recording final : public RefCounted<Recording> {
 public:
  // With `constants`, which must outlive the recording, calls whose operands are no values are computed at once, and
  // not recorded.
  static Ref<Recording> create(ConstantCalls* constants = nullptr, Kept kept = {}) {
    return Ref<Recording>::adopt(new Recording(constants, std::move(kept)));
  }

  // Adds a value, and returns a tensor that stands for it.
  TensorRef add_value(of_dtype dtype, of_device device, Sizes sizes);
  // Returns the number of a tensor's value. A tensor that is no value becomes a constant.
  ValueId value_of(const Tensor& tensor);
  // Records a call, and stores tensors for its results.
  void record(Call& call);
  // Makes an end: the tensors of its values cannot be used any more.
  void end() { is_open_ = false; }
  bool is_open() const { return is_open_; }
  // Returns whether this thread has created it, the only one that may record calls.
  bool is_of_this_thread() const { return pthread_equal(thread_, pthread_self()); }
  ConstantCalls* constant_calls() const { return constant_calls_; }
  // Returns whether the calls in the body of an operator are recorded in place of its call.
  bool expands(const Operator& op) const;

  const std::vector<RecordedValue>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  // The constants with the numbers of their values, in the order of their first use.
  const std::vector<std::pair<ValueId, TensorRef>>& constants() const { return constants_; }
  // The values without a root of their own to which calls write.
  const std::set<ValueId>& written() const { return written_; }

  void destroy() noexcept { delete this; }

 private:
  Recording(ConstantCalls* constants, Kept kept) : constant_calls_(constants), kept_(std::move(kept)) {}
  ~Recording() = default;
  Argument argument_of(const of_value& value);
  void mark_written(ValueId value) { written_.insert(values_[static_cast<size_t>(value)].root); }
  ValueId new_value(const Tensor& tensor);
  void attach(const Tensor& tensor, ValueId value);
  ValueId store_result(const Node& node, of_tensor inferred, of_tensor given, of_tensor& result);

  ConstantCalls* const constant_calls_;
  const Kept kept_;
  const pthread_t thread_ = pthread_self();
  std::atomic<bool> is_open_ = true;
  std::vector<RecordedValue> values_;
  std::vector<Node> nodes_;
  std::vector<std::pair<ValueId, TensorRef>> constants_;
  std::unordered_map<const Tensor*, ValueId> numbers_;  // of constants
  std::set<ValueId> written_;
};

// Makes the calls of this thread part of a recording, for as long as the object lives. Where it is destroyed on another
// thread, the calls of the first one are recorded until the recording ends.
class RecordedScope {
 public:
  explicit RecordedScope(Ref<Recording> recording);
  RecordedScope(const RecordedScope&) = delete;
  RecordedScope& operator=(const RecordedScope&) = delete;
  ~RecordedScope();

  // Lets calls of the thread compute, as if there were no recording, or records them again.
  void pause(bool paused);
  bool is_of_this_thread() const { return pthread_equal(thread_, pthread_self()); }

 private:
  const pthread_t thread_ = pthread_self();
  const Ref<Recording> recording_, before_;
  const uint32_t asked_before_;
};

// Implement of_recording_current() and of_recording_set_current().
Recording* current_recording();
void set_current_recording(Recording* recording);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_CAPTURE_RECORDING_H_
