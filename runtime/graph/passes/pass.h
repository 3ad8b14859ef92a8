// Passes: steps that make a program smaller or faster.
#ifndef ONEFLOW_GRAPH_PASSES_PASS_H_
#define ONEFLOW_GRAPH_PASSES_PASS_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/passes/editor.h"
#include "graph/passes/rule.h"

namespace oneflow::graph {

// From which level on a pass runs.
enum class Level {
  kCleanup = 0,   // removes what is computed twice or for nothing
  kExact = 1,     // gives the same bits
  kRounding = 2,  // changes how results are rounded
};

struct Pass {
  std::string name;
  std::string summary;
  Level level;
  double error;                         // the largest relative error of one change; 0 for none
  std::function<int64_t(Editor&)> run;  // returns how many changes it has made
};

// Returns the passes in the order in which they run.
const std::vector<Pass>& passes();

// The passes that are no rules.
int64_t remove_unused(Editor& editor);
int64_t merge_common_calls(Editor& editor);
int64_t fold_constants(Editor& editor);

// Apply a rule wherever it matches.
int64_t apply(const Rule& rule, const Operator& right, Editor& editor);
int64_t apply(const CallerRule& rule, Editor& editor);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_PASS_H_
