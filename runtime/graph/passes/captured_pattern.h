// Left sides of rules that were captured.
#ifndef ONEFLOW_GRAPH_PASSES_CAPTURED_PATTERN_H_
#define ONEFLOW_GRAPH_PASSES_CAPTURED_PATTERN_H_

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/passes/matcher.h"
#include "graph/program/bound_call.h"

namespace oneflow::graph {

// The pattern of a graph, whose inputs are the variables: its calls must be found with the same attributes. Constants
// with one element are numbers. The graph must outlive it.
class CapturedPattern {
 public:
  // `constants` are the names of the variables that must be constants. Throws InvalidArgument for a graph that is no
  // pattern.
  CapturedPattern(const Graph& graph, const std::set<std::string>& constants, bool is_exact);

  const Pattern& pattern() const { return *pattern_; }

 private:
  PatternArgument argument_of(const Argument& argument, const of_value& value) const;

  const Program& program_;
  std::vector<PatternArgument> values_;  // what each value is
  std::deque<BoundCall> bound_;          // literals
  std::deque<std::vector<PatternArgument>> arguments_;
  std::vector<PatternCall> calls_;
  std::vector<oneflow::Argument> variables_;
  std::optional<Pattern> pattern_;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_CAPTURED_PATTERN_H_
