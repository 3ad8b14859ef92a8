// Passes over graphs, and rules of the program.
#include <algorithm>
#include <deque>
#include <exception>

#include "objects/graph.h"
#include "objects/rule.h"

namespace oneflow::objects {
namespace {

// The right side of a rule while the passes run.
struct Application {
  const Rule& rule;
  std::exception_ptr thrown;
};

of_status apply(void* user, const of_tensor* inputs, uint64_t count, of_tensor* output) {
  auto& application = *static_cast<Application*>(user);
  try {
    *output = application.rule.apply({inputs, count});
    return OF_OK;
  } catch (...) {
    application.thrown = std::current_exception();
    return of_fail(OF_INTERNAL_ERROR, "the right side of a rule has failed");
  }
}

// Optimizes a graph. `examples` are the inputs of the runs that measure errors.
of_status optimize(void* self, of_optimize_options options, const of_data& examples, const of_data& rules,
                   Results& results) {
  const Graph& graph = graph_of(self);
  std::vector<of_tensor> inputs;
  if (examples.kind != OF_DATA_ABSENT && examples.kind != OF_DATA_NONE) {
    of_data arguments = examples;
    std::vector<const char*> no_names(examples.count);
    if (examples.kind == OF_DATA_LIST) {
      arguments.kind = OF_DATA_ARGUMENTS;
      arguments.of.keys = no_names.data();
    }
    inputs = input_tensors(graph, arguments, results, "the inputs");
  }
  options.inputs = inputs.data();
  options.input_count = inputs.size();
  std::deque<Application> applications;
  std::vector<of_rule> described;
  for (uint32_t i = 0; i < rules.count; ++i) {
    const Rule& rule = *static_cast<const Rule*>(rules.as.items[i].as.object);
    described.push_back(rule.describe(apply, &applications.emplace_back(Application{rule, {}})));
  }
  options.rules = described.data();
  options.rule_count = described.size();
  of_graph optimized = nullptr;
  of_report report = nullptr;
  const of_status status = of_graph_optimize(graph.graph(), &options, &optimized, &report);
  for (const Application& each : applications)
    if (each.thrown) std::rethrow_exception(each.thrown);
  results.check_named(status);
  results.give(new_graph(results, optimized, report));
  return OF_OK;
}

}  // namespace

// optimize(level, inputs, without, measure, rules, weights)
of_status graph_optimize(void* self, const of_data* given, Results& results) {
  auto options = sized<of_optimize_options>();
  options.level =
      given[0].kind == OF_DATA_INT ? static_cast<int32_t>(std::clamp<int64_t>(given[0].as.integer, -1, 3)) : 2;
  if (given[0].kind == OF_DATA_INT && (given[0].as.integer < 0 || given[0].as.integer > 2))
    results.fail(OF_INVALID_ARGUMENT, "level must be between 0 and 2, got " + std::to_string(given[0].as.integer));
  std::vector<const char*> without;
  for (uint32_t i = 0; i < given[2].count; ++i) without.push_back(given[2].as.items[i].as.text);
  options.without = without.data();
  options.without_count = without.size();
  options.measure = given[3].kind == OF_DATA_ABSENT || given[3].as.boolean;
  options.weights = given[5].kind == OF_DATA_DTYPE ? of_dtype_name(given[5].as.dtype) : nullptr;
  return optimize(self, options, given[1], given[4], results);
}

of_work graph_optimize_work(void*, const of_data* given) {
  return given[4].count == 0 ? OF_WORK_LONG : OF_WORK_SHORT;  // rules call functions of the language
}

// rewrite(rules, inputs, measure)
of_status graph_rewrite(void* self, const of_data* given, Results& results) {
  auto options = sized<of_optimize_options>();
  options.only_rules = true;
  options.measure = given[2].kind == OF_DATA_ABSENT || given[2].as.boolean;
  return optimize(self, options, given[1], given[0], results);
}

of_status graph_passes(void*, const of_data*, Results& results) {
  const of_pass* passes = nullptr;
  uint64_t count = 0;
  check(of_graph_passes(&passes, &count));
  std::vector<of_data> found;
  for (const of_pass& pass : std::span(passes, count)) {
    found.push_back(results.list(
        {results.text(pass.name), results.text(pass.summary), results.integer(pass.level), results.real(pass.error)}));
  }
  results.give(results.list(found));
  return OF_OK;
}

}  // namespace oneflow::objects
