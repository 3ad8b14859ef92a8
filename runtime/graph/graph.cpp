#include "graph/graph.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "device/device.h"
#include "graph/program_check.h"
#include "graph/text.h"

namespace oneflow::graph {

namespace {

ValueDescription describe(const Program& program, const std::string& name, ValueId id) {
  const Value& value = program.values[static_cast<size_t>(id)];
  ValueDescription description{name, &value, {}, {}, {}};
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
  const auto find = [&](const std::string& name) -> int64_t {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : found - names.begin();
  };
  return std::make_unique<files::Tree>(structure, names.size(), find);
}

}  // namespace

Description::Description(const Program& program) : text(to_text(program)) {
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

Ref<Graph> Graph::create(Program program) {
  check_program(program);
  return Ref<Graph>::adopt(new Graph(std::move(program)));
}

bool may_alias(const Operator& op) {
  const char* results = std::strstr(op.schema().signature, " -> ");
  return results && std::strchr(results, '(');
}

bool Argument::operator==(const Argument& other) const {
  const auto same_device = [](of_device a, of_device b) { return a == b; };
  return kind == other.kind && dtype == other.dtype && text == other.text && sizes == other.sizes &&
         values == other.values &&
         std::equal(devices.begin(), devices.end(), other.devices.begin(), other.devices.end(), same_device) &&
         number.kind == other.number.kind && number.as.natural == other.number.as.natural;
}

}  // namespace oneflow::graph
