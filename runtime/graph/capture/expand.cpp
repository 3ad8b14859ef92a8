#include "graph/capture/expand.h"

#include "dispatch/dispatch.h"
#include "graph/capture/capture.h"
#include "graph/program/bound_call.h"

namespace oneflow::graph {

namespace {

// Calls the operator of a node, which the capture that is running records.
void run_node(const Node& node, BoundCall& bound, Registers& registers) {
  bound.bind(node, registers, nullptr);
  BoundResults results(node, registers);
  call(*node.op, bound.arguments(), results.values());
  results.store(registers);
}

// Returns the inputs of a program, with the examples of their sizes.
std::vector<ExampleInput> example_inputs(const Program& program) {
  std::vector<ExampleInput> inputs;
  for (const Input& input : program.inputs) {
    const Value& value = program.values[index(input.value)];
    ExampleInput example{input.name, {}, {}};
    Shape shape;
    for (const SizeExpression& size : value.sizes) {
      const int number = size.is_constant() ? -1 : size.terms[0].atoms[0].number;
      example.named_sizes.push_back(number);
      shape.push_back(number < 0 ? size.constant : program.sizes[static_cast<size_t>(number)].example);
    }
    example.example = Tensor::without_memory(shape, value.dtype, value.device);
    inputs.push_back(std::move(example));
  }
  return inputs;
}

}  // namespace

Program expand(const Program& program, std::set<const Operator*> kept) {
  Capture capture(example_inputs(program), program.input_structure, program.sizes, std::move(kept));
  for (const Constant& constant : program.constants) capture.name(*constant.tensor, constant.name);
  std::vector<std::string> names;
  for (const Output& output : program.outputs) names.push_back(output.name);
  BoundCall bound;
  while (std::optional<std::vector<TensorRef>> inputs = capture.begin()) {
    Registers registers{std::vector<TensorRef>(program.values.size()), std::vector<int64_t>(program.sizes.size(), 0)};
    for (const Constant& constant : program.constants) registers.tensors[index(constant.value)] = constant.tensor;
    for (size_t i = 0; i < inputs->size(); ++i) {
      const TensorRef& tensor = (*inputs)[i];
      const Value& value = program.values[index(program.inputs[i].value)];
      for (size_t dim = 0; dim < value.sizes.size(); ++dim)
        if (!value.sizes[dim].is_constant())
          registers.named_sizes[static_cast<size_t>(value.sizes[dim].terms[0].atoms[0].number)] =
              tensor->size(static_cast<int>(dim));
      registers.tensors[index(program.inputs[i].value)] = tensor;
    }
    for (const Node& node : program.nodes) run_node(node, bound, registers);
    std::vector<TensorRef> outputs;
    for (const Output& output : program.outputs) outputs.push_back(registers.tensors[index(output.value)]);
    capture.end(names, outputs, "");
  }
  Program expanded = capture.finish();
  expanded.returned = program.returned;
  expanded.output_structure = program.output_structure;
  expanded.note = program.note;
  return expanded;
}

}  // namespace oneflow::graph
