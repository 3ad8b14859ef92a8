// The capture of a program as a graph.
//
// The program runs several times, each time with other sizes in place of those that may vary, and its calls are
// recorded without computing elements. What is the same in all runs is the graph; an integer that differs must follow
// from sizes: see fit(). A program that takes another path for other sizes is an error. In this way no language needs
// numbers of its own that stand for unknown sizes.
#ifndef ONEFLOW_GRAPH_CAPTURE_H_
#define ONEFLOW_GRAPH_CAPTURE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/recording.h"

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

class Capture final : public of_capture_object {
 public:
  // Throws InvalidArgument for inputs whose sizes contradict each other.
  Capture(std::vector<ExampleInput> inputs, std::string input_structure, std::vector<NamedSize> sizes, Kept kept = {});
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
  // Ends the run of a program that has failed.
  void cancel();
  // Returns the graph once all runs have ended.
  Ref<Graph> finish();

 private:
  RecordedScope& running_scope();

  const std::vector<ExampleInput> inputs_;
  const std::string input_structure_;
  const std::vector<NamedSize> sizes_;
  const Kept kept_;
  std::vector<std::vector<int64_t>> runs_;  // the named sizes of each run
  std::vector<Ref<Recording>> recordings_;
  std::vector<RecordedOutputs> outputs_;
  std::map<const Tensor*, std::pair<std::string, TensorRef>> names_;
  std::optional<RecordedScope> scope_;
};

inline Capture* to_capture(of_capture handle) { return static_cast<Capture*>(handle); }

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_CAPTURE_H_
