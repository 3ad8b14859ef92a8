// Applies rules to programs.
#include <exception>

#include "base/error.h"
#include "graph/passes/captured_pattern.h"
#include "graph/passes/matcher.h"
#include "graph/passes/pass.h"
#include "tensor/create.h"

namespace oneflow::graph {

namespace {

// Returns a number that a constant of the right side stands for as a tensor.
TensorRef tensor_of(const of_value& number, of_device device) {
  return scalar_tensor(scalar_of(number), number.kind == OF_VALUE_INT ? OF_INT64 : OF_FLOAT64, device);
}

// Runs the right side of a rule with what its variables stand for.
std::vector<TensorRef> run(const Rule& rule, const Operator& right, std::span<const of_value> arguments,
                           of_device device) {
  std::vector<of_value> values(arguments.begin(), arguments.end());
  std::vector<TensorRef> numbers;
  for (size_t i = 0; i < values.size(); ++i) {
    if (rule.schema->arguments[i].type != ArgumentType::kTensor || !is_number(values[i])) continue;
    values[i] = to_value(numbers.emplace_back(tensor_of(values[i], device)));
  }
  of_value results[kMaxResults]{};
  const auto count = static_cast<size_t>(rule.schema->result_count);
  Call call(right, rule.schema->name, {results, count}, false, nullptr);
  check_call(call, values);
  ProgramBody body(call);
  rule.body(body);
  return {call.outputs, call.outputs + count};
}

// Replaces what a pattern matches. build(arguments, device) runs the right side, whose constants must be finite with
// `only_finite`.
template <class BuildOn>
int64_t apply_where(const Pattern& pattern, Editor& editor, bool only_finite, BuildOn&& build_on) {
  int64_t count = 0;
  for (int call = editor.first(), next; call >= 0; call = next) {
    next = editor.next(call);
    const std::optional<Match> match = pattern.find(editor, call);
    if (!match) continue;
    const of_device device = editor.form_of(editor.node(call).results[0]).device();
    const auto build = [&](std::span<const of_value> arguments) { return build_on(arguments, device); };
    const std::span<const int> others(match->calls.data(), match->calls.size() - 1);
    count += editor.replace(call, match->variables, others, build, only_finite);
  }
  return count;
}

}  // namespace

int64_t apply(const Rule& rule, const Operator& right, Editor& editor) {
  const Pattern pattern(rule.calls, rule.schema->arguments, rule.constants, rule.error == 0);
  // A factor that is part of a weight is applied to each summand: with infinity, a sum that is finite would become NaN.
  return apply_where(pattern, editor, true, [&](std::span<const of_value> arguments, of_device device) {
    return run(rule, right, arguments, device);
  });
}

int64_t apply(const CallerRule& rule, Editor& editor) {
  const CapturedPattern captured(*rule.left, rule.constants, rule.error == 0);
  std::exception_ptr failure;
  const auto right = [&](std::span<const of_value> arguments, of_device device) {
    std::vector<TensorRef> results, numbers;
    if (failure) return results;
    try {
      std::vector<of_tensor> tensors;
      for (const of_value& argument : arguments) {
        const bool is_tensor = argument.kind == OF_VALUE_TENSOR;
        tensors.push_back(is_tensor ? argument.as.tensor : numbers.emplace_back(tensor_of(argument, device)).get());
      }
      if (TensorRef result = rule.right(tensors)) results.push_back(std::move(result));
    } catch (...) {
      failure = std::current_exception();
    }
    return results;
  };
  const int64_t count = apply_where(captured.pattern(), editor, false, right);
  if (failure) std::rethrow_exception(failure);
  return count;
}

}  // namespace oneflow::graph
