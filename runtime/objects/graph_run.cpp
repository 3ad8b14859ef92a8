// Runs of graphs.
#include <oneflow/front_end.h>

#include <algorithm>
#include <map>

#include "objects/graph.h"
#include "objects/nested.h"

namespace oneflow::objects {
namespace {

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

// Returns "1 input", "2 inputs".
std::string counted(size_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// The arguments of a run by the names of the parameters.
class Arguments {
 public:
  Arguments(const Graph& graph, const Results& results) : names_(graph.parameters()), results_(results) {}

  void add_positional(const of_data& value) { positional_.push_back(value); }
  void add_named(const std::string& name, const of_data& value) {
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at == names_.end())
      results_.fail(OF_TYPE_MISMATCH, "there is no argument " + quoted(name) + "; the graph takes " + joined(names_));
    if (static_cast<size_t>(at - names_.begin()) < positional_.size() || named_.count(name) != 0)
      results_.fail(OF_TYPE_MISMATCH, "the argument " + quoted(name) + " is given twice");
    named_.emplace(name, value);
  }

  // Returns the values in the order of the parameters.
  std::vector<of_data> values() const {
    std::vector<of_data> values = positional_;
    for (size_t i = positional_.size(); i < names_.size(); ++i) {
      const auto found = named_.find(names_[i]);
      if (found == named_.end()) results_.fail(OF_TYPE_MISMATCH, "missing argument " + quoted(names_[i]));
      values.push_back(found->second);
    }
    return values;
  }

 private:
  const std::vector<std::string>& names_;
  const Results& results_;
  std::vector<of_data> positional_;
  std::map<std::string, of_data> named_;
};

// Returns whether a map has just the names of the parameters as its keys.
bool names_parameters(const of_data& map, const std::vector<std::string>& names) {
  const std::span<const char* const> keys(map.of.keys, map.count);
  const auto is_key = [&](const std::string& name) {
    return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return name == key; });
  };
  return keys.size() == names.size() && std::all_of(names.begin(), names.end(), is_key);
}

// Returns the values of the parameters. What a language with options passes is a list or a map of them, or a single
// one.
std::vector<of_data> values_of(const Graph& graph, const of_data& given, const Results& results) {
  const std::vector<std::string>& names = graph.parameters();
  if (given.kind != OF_DATA_ARGUMENTS) {
    if (given.kind == OF_DATA_MAP && names_parameters(given, names)) {
      Arguments arguments(graph, results);
      for (uint32_t i = 0; i < given.count; ++i) arguments.add_named(given.of.keys[i], given.as.items[i]);
      return arguments.values();
    }
    if (names.size() == 1) return {given};
    results.fail(OF_TYPE_MISMATCH,
                 "the graph takes " + counted(names.size(), "input") + " (" + joined(names) + "), got 1");
  }
  Arguments arguments(graph, results);
  uint32_t positional = 0;
  while (positional < given.count && given.of.keys[positional] == nullptr) ++positional;
  if (results.language().has_options && positional != names.size()) {
    results.fail(OF_TYPE_MISMATCH, "the graph takes " + counted(names.size(), "input") + " (" + joined(names) +
                                       "), got " + std::to_string(positional));
  }
  if (positional > names.size()) {
    results.fail(OF_TYPE_MISMATCH,
                 "the graph takes " + counted(names.size(), "argument") + ", got " + std::to_string(positional));
  }
  for (uint32_t i = 0; i < positional; ++i) arguments.add_positional(given.as.items[i]);
  for (uint32_t i = positional; i < given.count; ++i) arguments.add_named(given.of.keys[i], given.as.items[i]);
  return arguments.values();
}

bool are_alike(const of_file_node& a, const of_file_node& b) {
  const std::string_view keys[] = {a.key != nullptr ? a.key : "", b.key != nullptr ? b.key : ""};
  return a.kind == b.kind && a.count == b.count && (a.key == nullptr) == (b.key == nullptr) && keys[0] == keys[1];
}

}  // namespace

std::vector<of_tensor> input_tensors(const Graph& graph, const of_data& given, const Results& results,
                                     const std::string& what) {
  const std::vector<of_file_node> nodes = nodes_of_map(values_of(graph, given, results), graph.parameters());
  const std::span<const of_file_node> expected = graph.nodes(OF_GRAPH_INPUT);
  if (!std::equal(nodes.begin(), nodes.end(), expected.begin(), expected.end(), are_alike)) {
    results.fail(OF_TYPE_MISMATCH, what + " are nested in another way than at the capture" +
                                       (results.language().has_options ? "" : "; see inputs"));
  }
  std::vector<of_tensor> tensors;
  for (const of_file_node& node : nodes)
    if (node.kind == OF_NODE_TENSOR) tensors.push_back(node.as.tensor);
  return tensors;
}

// call(arguments, states, generator)
of_status graph_call(void* self, const of_data* given, Results& results) {
  const Graph& graph = graph_of(self);
  const std::vector<of_tensor> inputs = input_tensors(graph, given[0], results, "the " + results.parameter(0));
  const of_graph_info info = graph.info();
  std::vector<of_value> outputs(info.output_count);
  auto options = sized<of_run_options>();
  if (given[2].kind == OF_DATA_OBJECT) options.generator = static_cast<of_generator>(given[2].as.object);
  results.check_named(
      of_session_run(graph.session(), inputs.data(), inputs.size(), outputs.data(), outputs.size(), &options));
  std::vector<of_data> tensors;
  for (const of_value& output : outputs) tensors.push_back(results.tensor(output.as.tensor));
  const of_data result = restored(graph.nodes(OF_GRAPH_OUTPUT), tensors, results);
  if (!given[1].as.boolean) {
    results.give(result);
    return OF_OK;
  }
  std::vector<std::string> names;
  for (uint64_t i = info.returned_count; i < info.output_count; ++i) {
    auto value = sized<of_graph_value>();
    check(of_graph_value_at(graph.graph(), OF_GRAPH_OUTPUT, i, &value));
    names.emplace_back(value.name);
  }
  const of_data states = results.map(std::span(tensors).subspan(info.returned_count), names);
  static const std::string kFields[] = {"result", "states"};
  of_data both = results.map(std::vector<of_data>{result, states}, kFields);
  both.kind = OF_DATA_RECORD;
  results.give(both);
  return OF_OK;
}

of_work graph_call_work(void* self, const of_data* given) {
  const Graph& graph = graph_of(self);
  std::vector<NamedTensor> tensors;
  of_data list = given[0];
  list.kind = list.kind == OF_DATA_ARGUMENTS ? OF_DATA_LIST : list.kind;
  add_named_tensors(list, "", &tensors);
  std::vector<of_tensor> inputs;
  for (const NamedTensor& each : tensors) inputs.push_back(each.tensor);
  if (graph.info().has_collectives) return OF_WORK_LONG;
  if (!of_run_is_long(graph.session(), inputs.data(), inputs.size())) return OF_WORK_SHORT;
  return graph.info().draws_numbers ? OF_WORK_LONG : OF_WORK_REPEATABLE;
}

// warm_up(sizes)
of_status graph_warm_up(void* self, const of_data* given, Results& results) {
  const Graph& graph = graph_of(self);
  const of_graph_info info = graph.info();
  std::vector<std::string> names, keys;
  for (const of_named_size& size : std::span(info.sizes, info.size_count)) names.emplace_back(size.name);
  for (uint32_t i = 0; i < given[0].count; ++i) keys.emplace_back(given[0].of.keys[i]);
  std::vector<int64_t> sizes;
  if (!keys.empty()) {
    if (!std::is_permutation(names.begin(), names.end(), keys.begin(), keys.end())) {
      results.fail(OF_INVALID_ARGUMENT,
                   "the sizes must be " + (names.empty() ? "none" : joined(names)) + ", got " + joined(keys));
    }
    for (const std::string& name : names) {
      const auto at = std::find(keys.begin(), keys.end(), name) - keys.begin();
      sizes.push_back(given[0].as.items[at].as.integer);
    }
  }
  results.check_named(of_session_warm_up(graph.session(), sizes.empty() ? nullptr : sizes.data(), sizes.size()));
  return OF_OK;
}

}  // namespace oneflow::objects
