#include "graph/report/listing.h"

#include "graph/program/text.h"

namespace oneflow::graph {

Listing::Listing(const Program& program) {
  for (const Node& node : program.nodes) {
    std::vector<of_graph_argument>& arguments = arguments_.emplace_back();
    for (const Argument& each : node.arguments) arguments.push_back(argument(each));
    of_graph_call call{};
    call.struct_size = sizeof call;
    call.op = to_handle(node.op);
    call.argument_count = static_cast<int32_t>(arguments.size());
    call.arguments = arguments.data();
    call.results = node.results.data();
    call.result_count = node.results.size();
    call.gives_results = node.gives_results;
    call.writes = node.writes;
    call.argument_texts = argument_texts(program, node);
    std::vector<ValueId>& written = written_.emplace_back();
    for_each_written(node, [&](ValueId value) { written.push_back(value); });
    call.written = written.data();
    call.written_count = written.size();
    calls_.push_back(call);
  }
  for (size_t id = 0; id < program.values.size(); ++id) values_.push_back(value(program, static_cast<ValueId>(id)));
  for (const Input& input : program.inputs) values_[index(input.value)].name = input.name.c_str();
  for (const Constant& constant : program.constants) values_[index(constant.value)].name = constant.name.c_str();
}

const of_graph_integer* Listing::integers(const std::vector<SizeExpression>& sizes) {
  std::vector<of_graph_integer>& integers = integers_.emplace_back();
  for (const SizeExpression& size : sizes) {
    std::vector<of_graph_term>& terms = terms_.emplace_back();
    for (const Term& term : size.terms) {
      std::vector<of_graph_atom>& atoms = atoms_.emplace_back();
      for (const Atom& atom : term.atoms) atoms.push_back({atom.value, atom.number});
      terms.push_back({term.factor, atoms.data(), atoms.size()});
    }
    integers.push_back({size.constant, terms.data(), terms.size(), size.divisor});
  }
  return integers.data();
}

of_graph_argument Listing::argument(const Argument& given) {
  of_graph_argument result{static_cast<int32_t>(given.kind), 1, {}};
  switch (given.kind) {
    case OF_VALUE_BOOL:
      result.as.boolean = given.number.as.integer != 0;
      break;
    case OF_VALUE_FLOAT:
      result.as.real = given.number.as.real;
      break;
    case OF_VALUE_UINT:
      result.as.natural = given.number.as.natural;
      break;
    case OF_VALUE_STRING:
      result.as.string = given.text.c_str();
      result.count = static_cast<int32_t>(given.text.size());
      break;
    case OF_VALUE_DTYPE:
      result.as.dtype = given.dtype;
      break;
    case OF_VALUE_DEVICE:
    case OF_VALUE_DEVICE_LIST:
      result.as.devices = given.devices.data();
      result.count = static_cast<int32_t>(given.devices.size());
      break;
    case OF_VALUE_INT:
    case OF_VALUE_INT_LIST:
      result.as.integers = integers(given.sizes);
      result.count = static_cast<int32_t>(given.sizes.size());
      break;
    case OF_VALUE_TENSOR:
    case OF_VALUE_TENSOR_LIST:
      result.as.values = given.values.data();
      result.count = static_cast<int32_t>(given.values.size());
      break;
    default:
      result.kind = OF_VALUE_NONE;
      break;
  }
  return result;
}

const char* const* Listing::argument_texts(const Program& program, const Node& node) {
  std::vector<const char*>& texts = text_lists_.emplace_back();
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const Argument& argument = node.arguments[i];
    const bool is_default = has_default(node, i);
    texts.push_back(is_default ? nullptr : texts_.emplace_back(argument_text(program, argument)).c_str());
  }
  return texts.data();
}

of_graph_value Listing::value(const Program& program, ValueId id) {
  const Value& found = program.values[index(id)];
  std::vector<int64_t>& sizes = sizes_.emplace_back();
  std::vector<const char*>& texts = text_lists_.emplace_back();
  for (size_t dim = 0; dim < found.sizes.size(); ++dim) {
    const SizeExpression& size = found.sizes[dim];
    sizes.push_back(size.is_constant() ? size.constant : -1);
    texts.push_back(texts_.emplace_back(size_text(program, id, dim)).c_str());
  }
  of_graph_value result{};
  result.struct_size = sizeof result;
  result.dtype = found.dtype;
  result.name = "";
  result.device = found.device;
  result.rank = static_cast<int32_t>(found.sizes.size());
  result.sizes = sizes.data();
  result.size_texts = texts.data();
  result.id = id;
  result.integers = integers(found.sizes);
  return result;
}

}  // namespace oneflow::graph
