// Makes one program of the recordings of several runs.
#ifndef ONEFLOW_GRAPH_CAPTURE_MERGE_H_
#define ONEFLOW_GRAPH_CAPTURE_MERGE_H_

#include <vector>

#include "graph/capture/capture.h"

namespace oneflow::graph {

// What the runs of a program have in common.
struct Runs {
  const std::vector<NamedSize>& sizes;
  const std::vector<std::vector<int64_t>>& samples;  // the named sizes of each run
  const std::vector<Ref<Recording>>& recordings;
  const std::vector<RecordedOutputs>& outputs;
};

// Returns the values, the calls and the outputs of a program. Throws InvalidArgument if the runs differ in more than
// integers that follow from sizes, and names the first difference.
Program merge(const Runs& runs);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_CAPTURE_MERGE_H_
