#include "graph/program/bound_call.h"

#include "dispatch/dimension_map.h"
#include "dispatch/dispatch.h"

namespace oneflow::graph {

namespace {

of_value number_value(of_value_kind kind, const of_scalar& number) {
  switch (kind) {
    case OF_VALUE_BOOL:
      return to_value(number.as.integer != 0);
    case OF_VALUE_UINT:
      return {OF_VALUE_UINT, 0, {.natural = number.as.natural}};
    default:
      return to_value(number.as.real);
  }
}

}  // namespace

void BoundCall::set_generators(const Schema& schema, of_generator generator) {
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (arguments_[i].kind == OF_VALUE_NONE && schema.arguments[i].type == ArgumentType::kGenerator)
      arguments_[i] = {OF_VALUE_GENERATOR, 0, {.generator = generator}};
}

void BoundCall::bind(std::span<const Argument> arguments, const Registers& registers) {
  // Lists must not move once values refer to them.
  size_t integers = 0, tensors = 0;
  for (const Argument& argument : arguments) {
    integers += argument.sizes.size();
    tensors += argument.values.size();
  }
  integers_.resize(integers);
  tensors_.resize(tensors);
  arguments_.resize(arguments.size());
  int64_t* next_integer = integers_.data();
  of_tensor* next_tensor = tensors_.data();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    of_value& value = arguments_[i] = {argument.kind, 0, {}};
    switch (argument.kind) {
      case OF_VALUE_BOOL:
      case OF_VALUE_FLOAT:
      case OF_VALUE_UINT:
        value = number_value(argument.kind, argument.number);
        break;
      case OF_VALUE_INT:
        value.as.integer = registers.value_of(argument.sizes[0]);
        break;
      case OF_VALUE_INT_LIST:
        value.count = static_cast<int32_t>(argument.sizes.size());
        value.as.integers = next_integer;
        for (const SizeExpression& size : argument.sizes) *next_integer++ = registers.value_of(size);
        break;
      case OF_VALUE_STRING:
        value = to_value(std::string_view(argument.text));
        break;
      case OF_VALUE_DTYPE:
        value.as.dtype = argument.dtype;
        break;
      case OF_VALUE_DEVICE:
        value.as.device = argument.devices[0];
        break;
      case OF_VALUE_DEVICE_LIST:
        value.count = static_cast<int32_t>(argument.devices.size());
        value.as.devices = argument.devices.data();
        break;
      case OF_VALUE_TENSOR:
        value = to_value(registers.tensors[static_cast<size_t>(argument.values[0])]);
        break;
      case OF_VALUE_TENSOR_LIST:
        value.count = static_cast<int32_t>(argument.values.size());
        value.as.tensors = next_tensor;
        for (const ValueId item : argument.values)
          *next_tensor++ = item == kNoValue ? nullptr : to_handle(registers.tensors[static_cast<size_t>(item)].get());
        break;
      default:
        break;
    }
  }
}

BoundResults::BoundResults(const Node& node, const Registers& registers) : node_(node) {
  if (!node.gives_results) return;
  const auto tensor = [&](ValueId result) -> const TensorRef& { return registers.tensors[index(result)]; };
  if (node.op->schema().gives_list) {
    for (const ValueId result : node.results) given_.push_back(to_handle(tensor(result).get()));
    values_[0] = {OF_VALUE_TENSOR_LIST, static_cast<int32_t>(given_.size()), {.tensors = given_.data()}};
  } else {
    for (size_t i = 0; i < node.results.size(); ++i) values_[i] = to_value(tensor(node.results[i]));
  }
}

void BoundResults::store(Registers& registers) {
  if (node_.gives_results) return;
  const auto adopt = [&](size_t i, of_tensor& result) {
    registers.tensors[index(node_.results[i])] = TensorRef::adopt(to_tensor(std::exchange(result, nullptr)));
  };
  if (!node_.op->schema().gives_list) {
    for (size_t i = 0; i < values().size(); ++i) adopt(i, values_[i].as.tensor);
    return;
  }
  const bool has_all = static_cast<size_t>(values_[0].count) == node_.results.size();
  for (size_t i = 0; has_all && i < node_.results.size(); ++i) adopt(i, values_[0].as.tensors[i]);
  const int found = values_[0].count;
  release_value(values_[0]);
  if (!has_all) fail(OF_SHAPE_ERROR, "it has %d results, not %zu", found, node_.results.size());
}

void fail_in_call(const Error& error, const Program& program, size_t call) {
  if (error.is_complete()) throw error;
  throw Error(error.status(),
              format_text("call %zu, %s: ", call, program.nodes[call].op->schema().function_name) + error.text());
}

std::vector<TensorRef> infer(Node& node, BoundCall& bound, const Registers& registers) {
  const Schema& schema = node.op->schema();
  bound.bind(node, registers, nullptr);
  const ForeseenWrites foreseen;
  OwnedResults results;
  const auto count = static_cast<size_t>(schema.result_count);
  call_inside(*node.op, nullptr, bound.arguments(), {results.values, count}, true);
  std::vector<TensorRef> found;
  if (schema.gives_list) {
    for (of_tensor& item : std::span(results.values[0].as.tensors, static_cast<size_t>(results.values[0].count)))
      found.push_back(TensorRef::adopt(to_tensor(std::exchange(item, nullptr))));
  } else {
    for (size_t i = 0; i < count; ++i) found.push_back(results.take(i));
  }
  node.writes = node.gives_results;
  for_each_tensor(bound.arguments(), [&](int, int argument, const Tensor& operand) {
    if (!schema.arguments[static_cast<size_t>(argument)].is_written) return;
    node.writes |= !schema.has_body || foreseen.contains(operand);
  });
  return found;
}

}  // namespace oneflow::graph
