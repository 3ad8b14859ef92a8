#include "objects/graph.h"

namespace oneflow::objects {
namespace {

of_graph_value value_at(const Graph& graph, of_graph_part part, uint64_t position) {
  auto value = sized<of_graph_value>();
  check(of_graph_value_at(graph.graph(), part, position, &value));
  return value;
}

// Gives the records of the values of a part in a range.
of_status give_values(void* self, of_graph_part part, uint64_t first, uint64_t last, Results& results) {
  std::vector<of_data> values;
  for (uint64_t i = first; i < last; ++i) {
    const of_graph_value value = value_at(graph_of(self), part, i);
    std::vector<of_data> sizes;
    for (int32_t dim = 0; dim < value.rank; ++dim) sizes.push_back(results.text(value.size_texts[dim]));
    values.push_back(results.list(
        {results.text(value.name), results.dtype(value.dtype), results.device(value.device), results.list(sizes)}));
  }
  results.give(results.list(values));
  return OF_OK;
}

of_session_info session_info(void* self) {
  auto info = sized<of_session_info>();
  check(of_session_get_info(graph_of(self).session(), &info));
  return info;
}

}  // namespace

Graph::Graph(of_graph graph, of_report report) : report_(report) {
  const Owned<of_graph, of_graph_release> owned(graph);
  of_session session = nullptr;
  check(of_session_create(graph, nullptr, &session));
  session_.reset(session);
  // The parameters are the items of the first node.
  const std::span<const of_file_node> inputs = nodes(OF_GRAPH_INPUT);
  for (size_t at = 1; at < inputs.size();) {
    parameters_.emplace_back(inputs[at].key != nullptr ? inputs[at].key : "");
    for (int64_t waiting = 1; waiting > 0; ++at) waiting += int64_t{inputs[at].count} - 1;
  }
}

of_graph_info Graph::info() const {
  auto info = sized<of_graph_info>();
  check(of_graph_get_info(graph(), &info));
  return info;
}

std::span<const of_file_node> Graph::nodes(of_graph_part part) const {
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  check(of_graph_get_nodes(graph(), part, &nodes, &count));
  return {nodes, count};
}

of_data new_graph(Results& results, of_graph graph, of_report report) {
  return results.object("Graph", Ref<Graph>::adopt(new Graph(graph, report)).detach());
}

// ------------------------------------------------------------------------------------------------ properties

of_status graph_inputs(void* self, const of_data*, Results& results) {
  return give_values(self, OF_GRAPH_INPUT, 0, graph_of(self).info().input_count, results);
}

of_status graph_outputs(void* self, const of_data*, Results& results) {
  return give_values(self, OF_GRAPH_OUTPUT, 0, graph_of(self).info().returned_count, results);
}

of_status graph_states(void* self, const of_data*, Results& results) {
  const of_graph_info info = graph_of(self).info();
  return give_values(self, OF_GRAPH_OUTPUT, info.returned_count, info.output_count, results);
}

of_status graph_constants(void* self, const of_data*, Results& results) {
  const Graph& graph = graph_of(self);
  std::vector<of_data> tensors;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < graph.info().constant_count; ++i) {
    of_tensor tensor = nullptr;
    check(of_graph_constant(graph.graph(), i, &tensor));
    tensors.push_back(results.tensor(tensor));
    names.emplace_back(value_at(graph, OF_GRAPH_CONSTANT, i).name);
  }
  results.give(results.map(tensors, names));
  return OF_OK;
}

of_status graph_sizes(void* self, const of_data*, Results& results) {
  const of_graph_info info = graph_of(self).info();
  std::vector<of_data> ranges;
  std::vector<std::string> names;
  for (const of_named_size& size : std::span(info.sizes, info.size_count)) {
    ranges.push_back(
        results.list({results.integer(size.minimum), results.integer(size.maximum), results.integer(size.step)}));
    names.emplace_back(size.name);
  }
  results.give(results.map(ranges, names));
  return OF_OK;
}

of_status graph_note(void* self, const of_data*, Results& results) {
  results.give(results.text(graph_of(self).info().note));
  return OF_OK;
}

of_status graph_text(void* self, const of_data*, Results& results) {
  results.give(results.text(graph_of(self).info().text));
  return OF_OK;
}

of_status graph_call_count(void* self, const of_data*, Results& results) {
  results.give(results.natural(graph_of(self).info().call_count));
  return OF_OK;
}

of_status graph_memory(void* self, const of_data*, Results& results) {
  results.give(results.natural(session_info(self).memory));
  return OF_OK;
}

of_status graph_memory_limit(void* self, const of_data*, Results& results) {
  const uint64_t limit = session_info(self).memory_limit;
  results.give(limit == 0 ? results.none() : results.natural(limit));
  return OF_OK;
}

of_status graph_set_memory_limit(void* self, const of_data* given, Results& results) {
  const bool is_none = given[0].kind == OF_DATA_NONE;
  if (!is_none && given[0].as.integer <= 0)
    results.fail(OF_INVALID_ARGUMENT, "the limit must be positive, got " + std::to_string(given[0].as.integer));
  return of_session_set_memory_limit(graph_of(self).session(),
                                     is_none ? 0 : static_cast<uint64_t>(given[0].as.integer));
}

of_status graph_report(void* self, const of_data*, Results& results) {
  if (graph_of(self).report() == nullptr) return OF_OK;
  auto info = sized<of_report_info>();
  check(of_report_get_info(graph_of(self).report(), &info));
  std::vector<of_data> passes;
  for (const of_pass_report& pass : std::span(info.passes, info.pass_count)) {
    passes.push_back(
        results.list({results.text(pass.name), results.integer(pass.changes), results.integer(pass.calls_before),
                      results.integer(pass.calls_after), results.real(pass.error)}));
  }
  results.give(results.list({results.list(passes), results.real(info.error), results.text(info.text)}));
  return OF_OK;
}

// ------------------------------------------------------------------------------------------------ files and reports

of_status graph_save(void* self, const of_data* given, Results& results) {
  results.check_named(of_graph_save(graph_of(self).graph(), given[0].as.text));
  return OF_OK;
}

of_status graph_load(void*, const of_data* given, Results& results) {
  auto options = sized<of_graph_load_options>();
  options.verify = given[1].as.boolean;
  options.share = given[2].as.boolean;
  of_graph graph = nullptr;
  results.check_named(of_graph_load(given[0].as.text, &options, &graph));
  results.give(new_graph(results, graph));
  return OF_OK;
}

of_status graph_cost(void* self, const of_data* given, Results& results) {
  std::vector<of_size_value> sizes;
  for (uint32_t i = 0; i < given[0].count; ++i) sizes.push_back({given[0].of.keys[i], given[0].as.items[i].as.integer});
  of_cost cost = nullptr;
  check(of_graph_get_cost(graph_of(self).graph(), sizes.data(), sizes.size(), &cost));
  const Owned<of_cost, of_cost_release> owned(cost);
  auto info = sized<of_cost_info>();
  check(of_cost_get_info(cost, &info));
  std::vector<of_data> operators;
  for (uint64_t i = 0; i < info.operator_count; ++i) {
    auto each = sized<of_operator_cost>();
    check(of_cost_at(cost, i, &each));
    operators.push_back(
        results.list({results.text(each.name), results.natural(each.calls), results.real(each.operations),
                      results.natural(each.bytes_read), results.natural(each.bytes_written)}));
  }
  results.give(results.list({results.real(info.operations), results.natural(info.bytes_read),
                             results.natural(info.bytes_written), results.natural(info.constant_bytes),
                             results.natural(info.peak_bytes), results.list(operators), results.text(info.table)}));
  return OF_OK;
}

of_status graph_picture(void* self, const of_data*, Results& results) {
  char* text = nullptr;
  check(of_graph_picture(graph_of(self).graph(), &text));
  const Owned<char*, of_free> owned(text);
  results.give(results.text(text));
  return OF_OK;
}

}  // namespace oneflow::objects
