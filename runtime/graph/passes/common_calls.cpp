// Computes once what a program computes several times.
#include <map>

#include "graph/passes/pass.h"

namespace oneflow::graph {

namespace {

// Returns whether two calls with the same arguments give the same results.
bool is_repeatable(const Editor& editor, const Node& node, int position) {
  if (node.writes || node.results.empty() || draws_numbers(*node.op)) return false;
  bool holds = true;
  for_each_needed(node, [&](ValueId value) { holds &= editor.is_fixed(value); });
  for (const ValueId result : node.results) holds &= editor.is_fixed(result) && editor.definition(result) == position;
  return holds;
}

}  // namespace

int64_t merge_common_calls(Editor& editor) {
  std::multimap<const Operator*, int> known;
  int64_t count = 0;
  const auto& nodes = editor.program().nodes;
  for (int position = 0; position < static_cast<int>(nodes.size()); ++position) {
    const Node& node = nodes[static_cast<size_t>(position)];
    if (!is_repeatable(editor, node, position)) continue;
    bool is_merged = false;
    const auto [begin, end] = known.equal_range(node.op);
    for (auto each = begin; each != end && !is_merged; ++each) {
      const Node& earlier = nodes[static_cast<size_t>(each->second)];
      if (earlier.arguments != node.arguments || earlier.results.size() != node.results.size()) continue;
      is_merged = true;
      for (size_t i = 0; i < node.results.size(); ++i)
        is_merged &= editor.use_count(node.results[i]) > 0 && editor.replace_value(node.results[i], earlier.results[i]);
    }
    if (is_merged)
      ++count;
    else
      known.emplace(node.op, position);
  }
  return count;
}

}  // namespace oneflow::graph
