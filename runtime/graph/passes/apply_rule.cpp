// Applies rules to programs.
#include "base/error.h"
#include "graph/passes/matcher.h"
#include "graph/passes/pass.h"
#include "tensor/create.h"

namespace oneflow::graph {

namespace {

// Runs the right side of a rule with what its variables stand for.
std::vector<TensorRef> run(const Rule& rule, const Operator& right, std::span<const of_value> arguments,
                           of_device device) {
  std::vector<of_value> values(arguments.begin(), arguments.end());
  std::vector<TensorRef> numbers;
  for (size_t i = 0; i < values.size(); ++i) {
    if (rule.schema->arguments[i].type != ArgumentType::kTensor || !is_number(values[i])) continue;
    const of_scalar number = scalar_of(values[i]);
    numbers.push_back(scalar_tensor(number, values[i].kind == OF_VALUE_INT ? OF_INT64 : OF_FLOAT64, device));
    values[i] = to_value(numbers.back());
  }
  of_value results[kMaxResults]{};
  const auto count = static_cast<size_t>(rule.schema->result_count);
  Call call(right, rule.schema->name, {results, count}, false, nullptr);
  check_call(call, values);
  ProgramBody body(call);
  rule.body(body);
  return {call.outputs, call.outputs + count};
}

}  // namespace

int64_t apply(const Rule& rule, const Operator& right, Editor& editor) {
  const Pattern pattern(rule.calls, rule.schema->arguments, rule.constants, rule.error == 0);
  int64_t count = 0;
  for (int position = 0; position < static_cast<int>(editor.program().nodes.size()); ++position) {
    const std::optional<Match> match = pattern.find(editor, position);
    if (!match) continue;
    const size_t before = editor.program().nodes.size();
    const of_device device = editor.form_of(editor.program().nodes[static_cast<size_t>(position)].results[0]).device();
    const auto build = [&](std::span<const of_value> arguments) { return run(rule, right, arguments, device); };
    const std::span<const int> others(match->calls.data(), match->calls.size() - 1);
    if (!editor.replace(position, match->variables, others, build)) continue;
    ++count;
    // The calls that are there now may match again.
    const auto removed = static_cast<int>(before) - static_cast<int>(editor.program().nodes.size());
    position = std::max(position - std::max(removed, 0) - 1, -1);
  }
  return count;
}

}  // namespace oneflow::graph
