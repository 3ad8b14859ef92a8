// Operators that run graphs of their own. What they decide on must be known while the model is loaded, except for a
// condition whose branches can both be computed.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

using Values = std::vector<ValueRef>;

Values chosen(NodeCall& node) {
  if (node.value(0)->is_known()) {
    const bool holds = node.computed([&] { return node.known(0).item<bool>(); });
    node.decide(holds);
    return node.run_graph(holds ? "then_branch" : "else_branch", {});
  }
  const Tensor& condition = node.tensor(0);
  const Values then_values = node.run_graph("then_branch", {}), else_values = node.run_graph("else_branch", {});
  if (then_values.size() != else_values.size()) throw InvalidArgument("both branches must have the same outputs");
  Values results;
  for (size_t i = 0; i < then_values.size(); ++i) {
    const Tensor &a = then_values[i]->in_graph(), &b = else_values[i]->in_graph();
    if (!std::ranges::equal(a.sizes(), b.sizes()) || a.dtype() != b.dtype())
      throw Unsupported("the condition is known only when the graph runs, and the branches have different shapes");
    results.push_back(node.graph_value(where(condition, a, b)));
  }
  return results;
}

// Returns the tensors of all steps as one, along a new dimension or an existing one.
ValueRef joined(const NodeCall& node, const Values& steps, int64_t axis, bool is_reversed) {
  std::vector<Tensor> tensors;
  bool is_known = true;
  for (const ValueRef& step : steps) is_known &= step->is_known() && !step->varies;
  for (const ValueRef& step : steps) tensors.push_back(is_known ? step->known : step->in_graph());
  if (is_reversed) std::reverse(tensors.begin(), tensors.end());
  if (is_known) return node.known_value(node.computed([&] { return stack(tensors, axis); }));
  return node.graph_value(stack(tensors, axis));
}

Values looped(NodeCall& node) {
  const int64_t limit = node.has(0) ? node.integer(0) : INT64_MAX;
  const auto holds = [&](const Tensor& condition) { return node.computed([&] { return condition.item<bool>(); }); };
  bool goes_on = !node.has(1) || holds(node.known(1));
  Values states;
  for (size_t i = 2; i < node.count(); ++i) states.push_back(node.value(i));
  std::vector<Values> outputs(node.result_count() - std::min(states.size(), node.result_count()));
  int64_t step = 0;
  for (; goes_on && step < limit; ++step) {
    check_steps(step + 1);
    Values inputs{node.known_value(node.computed([&] { return full(std::vector<int64_t>{}, step, int64); })),
                  node.known_value(node.computed([&] { return full(std::vector<int64_t>{}, true, bool_); }))};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const Values results = node.run_graph("body", inputs, step);
    if (results.size() < 1 + states.size() + outputs.size())
      throw InvalidArgument("the body must have " + std::to_string(1 + states.size() + outputs.size()) + " outputs");
    if (!results[0]->is_known()) throw Unsupported("the condition of the loop is known only when the graph runs");
    goes_on = holds(results[0]->known);
    for (size_t i = 0; i < states.size(); ++i) states[i] = results[1 + i];
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push_back(results[1 + states.size() + i]);
  }
  node.decide(step);
  Values results = states;
  for (const Values& output : outputs) {
    if (output.empty()) throw Unsupported("a loop without steps has no shape for its scan outputs");
    results.push_back(joined(node, output, 0, false));
  }
  return results;
}

Values scanned(NodeCall& node) {
  const bool has_lengths = node.opset() < 9;
  if (has_lengths) throw Unsupported("the form of opset 8 is not supported; opset 9 has no lengths");
  const auto scan_count = static_cast<size_t>(node.required_integer("num_scan_inputs"));
  if (scan_count < 1 || scan_count > node.count()) throw InvalidArgument("num_scan_inputs is out of range");
  const size_t state_count = node.count() - scan_count;
  const auto option = [&](const char* name, size_t count) {
    return node.integers(name, std::vector<int64_t>(count, 0));
  };
  const size_t output_count = node.result_count() - std::min(state_count, node.result_count());
  const auto input_axes = option("scan_input_axes", scan_count),
             input_directions = option("scan_input_directions", scan_count);
  const auto output_axes = option("scan_output_axes", output_count),
             output_directions = option("scan_output_directions", output_count);
  if (input_axes.size() < scan_count || input_directions.size() < scan_count || output_axes.size() < output_count ||
      output_directions.size() < output_count)
    throw InvalidArgument("an attribute has too few numbers");
  Values states;
  for (size_t i = 0; i < state_count; ++i) states.push_back(node.value(i));
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < scan_count; ++i) inputs.push_back(node.tensor(state_count + i));
  const int64_t steps = inputs[0].size(input_axes[0]);
  check_steps(steps);
  node.decide(steps);
  std::vector<Values> outputs(output_count);
  for (int64_t step = 0; step < steps; ++step) {
    Values given = states;
    for (size_t i = 0; i < scan_count; ++i)
      given.push_back(
          node.graph_value(select(inputs[i], input_axes[i], input_directions[i] ? steps - 1 - step : step)));
    const Values results = node.run_graph("body", given, step);
    if (results.size() < state_count + output_count) throw InvalidArgument("the body has too few outputs");
    for (size_t i = 0; i < state_count; ++i) states[i] = results[i];
    for (size_t i = 0; i < output_count; ++i) outputs[i].push_back(results[state_count + i]);
  }
  Values results = states;
  for (size_t i = 0; i < output_count; ++i) {
    if (outputs[i].empty()) throw Unsupported("a scan without steps has no shape for its outputs");
    results.push_back(joined(node, outputs[i], output_axes[i], output_directions[i] != 0));
  }
  return results;
}

constexpr std::array kOperators{
    Operator{"If", 1, nullptr, chosen},
    Operator{"Loop", 1, nullptr, looped},
    Operator{"Scan", 8, nullptr, scanned},
};

}  // namespace

std::span<const Operator> control_operators() { return kOperators; }

}  // namespace oneflow::onnx
