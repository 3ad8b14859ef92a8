#include "graph/passes/captured_pattern.h"

#include <algorithm>

#include "base/characters.h"
#include "base/error.h"
#include "dispatch/values.h"
#include "tensor/transfer.h"

namespace oneflow::graph {

CapturedPattern::CapturedPattern(const Graph& graph, const std::set<std::string>& constants, bool is_exact)
    : program_(graph.program()), values_(program_.values.size()) {
  uint32_t mask = 0;
  if (program_.inputs.size() > 32) fail(OF_INVALID_ARGUMENT, "the left side takes more than 32 tensors");
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const Input& input = program_.inputs[i];
    values_[index(input.value)].variable = static_cast<int>(i);
    variables_.push_back({.name = input.name.c_str(), .type_text = "Tensor", .type = ArgumentType::kTensor});
    if (constants.contains(input.name)) mask |= uint32_t{1} << i;
  }
  for (const std::string& name : constants)
    if (std::none_of(program_.inputs.begin(), program_.inputs.end(),
                     [&](const Input& input) { return input.name == name; }))
      fail(OF_INVALID_ARGUMENT, "the left side takes no tensor '%s'", printable(name).c_str());
  for (const Constant& constant : program_.constants) {
    if (constant.tensor->count() != 1)
      fail(OF_INVALID_ARGUMENT, "the left side uses a tensor of shape %s: make it an argument",
           to_text(constant.tensor->sizes()).c_str());
    values_[index(constant.value)].literal = to_value(to_double(item(*constant.tensor)));
  }
  for (const Node& node : program_.nodes) {
    if (node.writes || node.results.size() != 1)
      fail(OF_INVALID_ARGUMENT, "the left side calls %s: its calls must have one result, and write to nothing",
           node.op->schema().name);
    Registers registers;
    registers.tensors.resize(program_.values.size());
    for (const Argument& argument : node.arguments)
      if (!std::all_of(argument.sizes.begin(), argument.sizes.end(),
                       [](const SizeExpression& size) { return size.is_constant(); }))
        fail(OF_INVALID_ARGUMENT, "the left side has attributes that depend on sizes");
    BoundCall& bound = bound_.emplace_back();
    std::vector<Argument> attributes = node.arguments;
    for (Argument& argument : attributes)
      if (argument.kind == OF_VALUE_TENSOR || argument.kind == OF_VALUE_TENSOR_LIST) argument = {};
    bound.bind(attributes, registers);
    std::vector<PatternArgument>& arguments = arguments_.emplace_back();
    for (size_t i = 0; i < node.arguments.size(); ++i)
      arguments.push_back(argument_of(node.arguments[i], bound.arguments()[i]));
    values_[index(node.results[0])].call = static_cast<int>(calls_.size());
    calls_.push_back({node.op->schema().name, arguments});
  }
  if (program_.outputs.size() != 1 || calls_.empty() ||
      values_[index(program_.outputs[0].value)].call != static_cast<int>(calls_.size()) - 1)
    fail(OF_INVALID_ARGUMENT, "the left side must return one tensor, which its last call computes");
  pattern_.emplace(calls_, variables_, mask, is_exact);
}

PatternArgument CapturedPattern::argument_of(const Argument& argument, const of_value& value) const {
  if (argument.kind == OF_VALUE_TENSOR) return values_[index(argument.values[0])];
  if (argument.kind == OF_VALUE_TENSOR_LIST) fail(OF_INVALID_ARGUMENT, "the left side has a list of tensors");
  return {.literal = value};
}

}  // namespace oneflow::graph
