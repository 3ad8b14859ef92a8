// The capture of a program as a graph.
//
// The program runs several times, each time with other sizes in place of those that may vary, and its calls are
// recorded without computing elements. What is the same in all runs is the graph; an integer that differs must follow
// from sizes: see fit(). A program that takes another path for other sizes is an error. In this way no language needs
// numbers of its own that stand for unknown sizes.
#ifndef ONEFLOW_GRAPH_CAPTURE_CAPTURE_H_
#define ONEFLOW_GRAPH_CAPTURE_CAPTURE_H_

#include <oneflow/graph.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/work_observer.h"
#include "graph/capture/recording.h"
#include "graph/program/program.h"

// The type that an of_capture points to.
struct of_capture_object {};

namespace oneflow::graph {

// An input of the program: an example, and the number of the named size of each dimension, -1 for those that are fixed.
struct ExampleInput {
  std::string name;
  TensorRef example;
  std::vector<int> named_sizes;
};

// What one run of the program has returned.
struct RecordedOutputs {
  std::vector<std::string> names;
  std::vector<ValueId> values;
  std::string structure;
};

// Refuses allocations of a thread above a limit.
class AllocationLimit final : public WorkObserver {
 public:
  // Sets the limit, in bytes, for the calling thread; UINT64_MAX: no limit. Returns what it has allocated since the
  // last one.
  uint64_t restart(uint64_t limit);

  void see_allocation(of_device device, const void* memory, uint64_t bytes) override;
  void see_kernel(of_kernel, const of_kernel_context&, bool) override {}
  void see_contraction(const of_contraction&) override {}
  void see_copy(of_device, void*, const void*, uint64_t) override {}
  void see_upload(of_device, void*, const void*, uint64_t) override {}
  void see_fill(of_device, void*, uint8_t, uint64_t) override {}
  void see_release(const void*) noexcept override {}
  void see_other() noexcept override {}

 private:
  uint64_t limit_ = UINT64_MAX, allocated_ = 0;
  WorkObserver* outer_ = nullptr;
};

class Capture final : public of_capture_object {
 public:
  // Throws InvalidArgument for inputs whose sizes contradict each other.
  Capture(std::vector<ExampleInput> inputs, std::string input_structure, std::vector<NamedSize> sizes, Kept kept = {},
          std::string note = {});
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  // Names a tensor that the program uses.
  void name(const Tensor& constant, std::string name);
  // Starts the next run on this thread, whose calls are recorded from then on, and returns its inputs; none if no
  // further run is needed.
  std::optional<std::vector<TensorRef>> begin();
  // Ends the run with what the program has returned.
  void end(std::vector<std::string> names, const std::vector<TensorRef>& outputs, std::string structure);
  // Lets calls of the program compute, or records them again. What is computed becomes constants.
  void pause(bool paused);
  // See AllocationLimit::restart().
  uint64_t limit(uint64_t bytes);
  // Ends the run of a program that has failed.
  void cancel();
  // Returns the program once all runs have ended. It is not checked: see check.h.
  Program finish();

 private:
  RecordedScope& running_scope();

  const std::vector<ExampleInput> inputs_;
  const std::string input_structure_;
  const std::vector<NamedSize> sizes_;
  const Kept kept_;
  const std::string note_;
  AllocationLimit allocation_limit_;
  std::vector<std::vector<int64_t>> runs_;  // the named sizes of each run
  std::vector<Ref<Recording>> recordings_;
  std::vector<RecordedOutputs> outputs_;
  std::map<const Tensor*, std::pair<std::string, TensorRef>> names_;
  std::optional<RecordedScope> scope_;
};

inline Capture* to_capture(of_capture handle) { return static_cast<Capture*>(handle); }

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_CAPTURE_CAPTURE_H_
