#include "graph/graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/characters.h"
#include "base/error.h"
#include "device/device.h"
#include "graph/listing.h"
#include "graph/program_check.h"
#include "graph/text.h"

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

void check_example(const NamedSize& size) {
  if (size.minimum < 0 || size.step < 1 || !size.allows(size.example))
    fail(OF_INVALID_ARGUMENT, "the size '%s' does not allow its example %ld", printable(size.name).c_str(),
         size.example);
}

Graph::Graph(Program program) : program_(std::move(program)), description_(program_) {}

Graph::~Graph() { delete listing_.load(); }

const Listing& Graph::listing() const {
  if (const Listing* const known = listing_.load()) return *known;
  auto made = std::make_unique<const Listing>(program_);
  const Listing* first = nullptr;  // that of another thread
  return listing_.compare_exchange_strong(first, made.get()) ? *made.release() : *first;
}

Ref<Graph> Graph::create(Program program) {
  check_program(program);
  return Ref<Graph>::adopt(new Graph(std::move(program)));
}

bool draws_numbers(const Operator& op) {
  const auto is_generator = [](const oneflow::Argument& argument) { return argument.type == ArgumentType::kGenerator; };
  return std::any_of(op.schema().arguments.begin(), op.schema().arguments.end(), is_generator);
}

bool may_alias(const Operator& op) {
  const char* results = std::strstr(op.schema().signature, " -> ");
  return results && std::strchr(results, '(');
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
