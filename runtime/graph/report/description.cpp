#include "graph/report/description.h"

#include <algorithm>
#include <unordered_map>

#include "graph/program/text.h"

namespace oneflow::graph {

namespace {

ValueDescription describe(const Program& program, const std::string& name, ValueId id) {
  const Value& value = program.values[static_cast<size_t>(id)];
  ValueDescription description{name, &value, {}, {}, {}, id};
  for (size_t dim = 0; dim < value.sizes.size(); ++dim) {
    const SizeExpression& size = value.sizes[dim];
    description.sizes.push_back(size.is_constant() ? size.constant : -1);
    description.size_texts.push_back(size_text(program, id, dim));
  }
  return description;
}

// Returns how the first values of a part are nested.
std::unique_ptr<const files::Tree> tree_of(const std::string& structure, std::vector<std::string> names) {
  if (structure.empty()) return std::make_unique<files::Tree>(std::move(names));
  std::unordered_map<std::string_view, int64_t> positions;
  for (const std::string& name : names) positions.try_emplace(name, static_cast<int64_t>(positions.size()));
  const auto find = [&](const std::string& name) {
    const auto found = positions.find(name);
    return found == positions.end() ? int64_t{-1} : found->second;
  };
  return std::make_unique<files::Tree>(structure, names.size(), find);
}

}  // namespace

Description::Description(const Program& program)
    : text(to_text(program)),
      draws_numbers(std::any_of(program.nodes.begin(), program.nodes.end(),
                                [](const Node& node) { return graph::draws_numbers(*node.op); })),
      has_collectives(std::any_of(program.nodes.begin(), program.nodes.end(),
                                  [](const Node& node) { return node.op->schema().between_processes; })),
      constant_count(0) {
  for (const Constant& constant : program.constants) constant_count += constant.tensor->count();
  for (const NamedSize& size : program.sizes)
    sizes.push_back({size.name.c_str(), size.minimum, size.maximum, size.step});
  const auto add = [&](of_graph_part part, const auto& items) {
    for (const auto& item : items) parts[part].push_back(describe(program, item.name, item.value));
    for (ValueDescription& description : parts[part])
      for (const std::string& each : description.size_texts) description.size_pointers.push_back(each.c_str());
  };
  add(OF_GRAPH_INPUT, program.inputs);
  add(OF_GRAPH_OUTPUT, program.outputs);
  add(OF_GRAPH_CONSTANT, program.constants);
  const auto names_of = [](const auto& items, size_t count) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back(items[i].name);
    return names;
  };
  inputs = tree_of(program.input_structure, names_of(program.inputs, program.inputs.size()));
  outputs = tree_of(program.output_structure, names_of(program.outputs, program.returned));
}

}  // namespace oneflow::graph
