// Runs passes, and measures what they change.
#ifndef ONEFLOW_GRAPH_PASSES_OPTIMIZE_H_
#define ONEFLOW_GRAPH_PASSES_OPTIMIZE_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "graph/passes/pass.h"

namespace oneflow::graph {

struct Optimization {
  Level level = Level::kRounding;
  std::set<std::string> without;     // the names of passes that do not run
  std::vector<CallerRule> rules;     // which run before the passes
  bool runs_passes = true;           // whether others than these rules run
  of_dtype weights = OF_DTYPE_NONE;  // how large constants are stored in the end, if they are wider
  bool measures = true;
  std::span<const TensorRef> inputs;  // of the runs that measure errors; none: random ones
};

// What a pass has done.
struct PassReport {
  std::string name;
  int64_t changes;
  int64_t calls_before, calls_after;
  double error;  // the largest relative error of an output that the pass has caused; NaN if it was not measured
};

struct Optimized {
  Ref<Graph> graph;
  size_t calls_before;
  std::vector<PassReport> passes;  // those that have changed the program, in the order of their first change
  double error;                    // of the whole; NaN if it was not measured
};

// Runs passes until none changes the program. Throws InvalidArgument for unknown names of passes.
Optimized optimize(const Graph& graph, const Optimization& options);

// Returns a table of what the passes have done, for people.
std::string table(const Optimized& optimized);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_OPTIMIZE_H_
