#include "graph/program/program.h"

#include <algorithm>

#include "base/characters.h"
#include "base/error.h"
#include "device/device.h"

namespace oneflow::graph {

std::string NamedSize::words() const {
  const std::string steps = step == 1 ? "" : format_text(" in steps of %ld", step);
  if (maximum == INT64_MAX) return format_text("at least %ld", minimum) + steps;
  return format_text("between %ld and %ld", minimum, maximum) + steps;
}

void check_example(const NamedSize& size) {
  if (size.minimum < 0 || size.step < 1 || !size.allows(size.example))
    fail(OF_INVALID_ARGUMENT, "the size '%s' does not allow its example %ld", printable(size.name).c_str(),
         size.example);
}

bool draws_numbers(const Operator& op) {
  const auto is_generator = [](const oneflow::Argument& argument) { return argument.type == ArgumentType::kGenerator; };
  return std::any_of(op.schema().arguments.begin(), op.schema().arguments.end(), is_generator);
}

bool has_effects(const Operator& op) { return draws_numbers(op) || op.schema().between_processes; }

bool has_default(const Node& node, size_t argument) {
  const oneflow::Argument& described = node.op->schema().arguments[argument];
  return described.default_text && node.arguments[argument] == default_of(described);
}

ValueId aliased_operand(const Node& node, size_t result) {
  const Schema& schema = node.op->schema();
  const int32_t argument = schema.result_aliases[schema.gives_list ? 0 : result];
  if (argument < 0) return kNoValue;
  const std::vector<ValueId>& operands = node.arguments[static_cast<size_t>(argument)].values;
  const size_t item = schema.arguments[static_cast<size_t>(argument)].is_list ? result : 0;
  return item < operands.size() ? operands[item] : kNoValue;
}

Argument argument_of(const of_value& value) {
  Argument argument;
  argument.kind = static_cast<of_value_kind>(value.kind);
  const auto count = static_cast<size_t>(value.count);
  switch (argument.kind) {
    case OF_VALUE_BOOL:
    case OF_VALUE_FLOAT:
    case OF_VALUE_UINT:
      argument.number = scalar_of(value);
      break;
    case OF_VALUE_INT:
      argument.sizes = {{value.as.integer, {}, 1}};
      break;
    case OF_VALUE_INT_LIST:
      for (const int64_t item : std::span(value.as.integers, count)) argument.sizes.push_back({item, {}, 1});
      break;
    case OF_VALUE_STRING:
      argument.text.assign(value.as.string, count);
      break;
    case OF_VALUE_DTYPE:
      argument.dtype = value.as.dtype;
      break;
    case OF_VALUE_DEVICE:
      argument.devices = {value.as.device};
      break;
    case OF_VALUE_DEVICE_LIST:
      argument.devices.assign(value.as.devices, value.as.devices + count);
      break;
    case OF_VALUE_GENERATOR:
      argument.kind = OF_VALUE_NONE;
      break;
    default:
      break;
  }
  return argument;
}

Argument default_of(const oneflow::Argument& argument) {
  if (!argument.default_text) return {};
  of_value value = argument.default_value;
  if (argument.type == ArgumentType::kFloat && value.kind == OF_VALUE_INT)
    value = {OF_VALUE_FLOAT, 0, {.real = static_cast<double>(value.as.integer)}};
  return argument_of(value);
}

bool Argument::operator==(const Argument& other) const {
  const auto same_device = [](of_device a, of_device b) { return a == b; };
  return kind == other.kind && dtype == other.dtype && text == other.text && sizes == other.sizes &&
         values == other.values &&
         std::equal(devices.begin(), devices.end(), other.devices.begin(), other.devices.end(), same_device) &&
         number.kind == other.number.kind && number.as.natural == other.number.as.natural;
}

}  // namespace oneflow::graph
