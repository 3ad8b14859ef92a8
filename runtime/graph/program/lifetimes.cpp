#include "graph/program/lifetimes.h"

namespace oneflow::graph {

Lifetimes::Lifetimes(const Program& program) : steps(program.nodes.size()) {
  std::vector<bool> is_used_later(program.values.size(), false);
  for (const Constant& constant : program.constants) is_used_later[index(constant.value)] = true;
  for (const Output& output : program.outputs) {
    if (!is_used_later[index(output.value)]) released_last.push_back(output.value);
    is_used_later[index(output.value)] = true;
  }
  for (size_t i = steps.size(); i-- > 0;) {
    const Node& node = program.nodes[i];
    Step& step = steps[i];
    const auto release = [&](ValueId value) {
      if (is_used_later[index(value)]) return false;
      is_used_later[index(value)] = true;
      step.released.push_back(value);
      return true;
    };
    for (const ValueId result : node.results)
      if (!node.gives_results) release(result);
    for_each_needed(node, [&](ValueId value) {
      if (!release(value) || node.results.size() != 1 || node.writes || step.donated != kNoValue) return;
      const Value &operand = program.values[index(value)], &result = program.values[index(node.results[0])];
      if (operand.dtype == result.dtype && operand.sizes == result.sizes) step.donated = value;
    });
  }
  for (const Input& input : program.inputs)
    if (!is_used_later[index(input.value)]) released_last.push_back(input.value);
}

}  // namespace oneflow::graph
