// The C API: passes over graphs.
#include <oneflow/graph.h>

#include "base/characters.h"
#include "capi/boundary.h"
#include "graph/passes/optimize.h"

using namespace oneflow;
using namespace oneflow::graph;

// The type that an of_report points to.
struct of_report_object {
  std::vector<PassReport> passes;
  double error;
  std::string text;
  std::vector<of_pass_report> rows;
};

namespace {

CallerRule read_rule(const of_rule& given, const char* function) {
  require(given.name, function, "the name of a rule");
  require(given.left, function, "the left side of a rule");
  require(reinterpret_cast<const void*>(given.right), function, "the right side of a rule");
  CallerRule rule{given.name, Ref<Graph>::share(to_graph(given.left)), {}, {}, given.error};
  for (const char* name : std::span(given.constants, given.constant_count)) {
    require(name, function, "a name in constants");
    rule.constants.insert(name);
  }
  rule.right = [right = given.right, user = given.user](std::span<const of_tensor> inputs) {
    of_tensor output = nullptr;
    const of_status status = right(user, inputs.data(), inputs.size(), &output);
    if (status != OF_OK) throw Error(status, last_error(), true);
    return output ? TensorRef::adopt(to_tensor(output)) : TensorRef();
  };
  return rule;
}

Optimization read_options(const of_optimize_options& given, const char* function) {
  Optimization options;
  if (given.level < 0 || given.level > static_cast<int32_t>(Level::kRounding))
    fail(OF_INVALID_ARGUMENT, "level must be between 0 and 2, got %d", given.level);
  options.level = static_cast<Level>(given.level);
  if (given.without_count) require(given.without, function, "without");
  for (const char* name : std::span(given.without, given.without_count)) {
    require(name, function, "a name in without");
    options.without.insert(name);
  }
  options.measures = given.measure;
  options.runs_passes = !given.only_rules;
  if (given.weights) {
    const std::string_view name = given.weights;
    if (name != "float16" && name != "bfloat16")
      fail(OF_INVALID_ARGUMENT, "weights must be float16 or bfloat16, got '%s'", printable(name).c_str());
    options.weights = name == "float16" ? OF_FLOAT16 : OF_BFLOAT16;
  }
  if (given.rule_count) require(given.rules, function, "rules");
  for (const of_rule& rule : std::span(given.rules, given.rule_count))
    options.rules.push_back(read_rule(rule, function));
  return options;
}

}  // namespace

of_status of_graph_passes(const of_pass** result, uint64_t* count) {
  return guard([&, function = __func__] {
    require(result, function, "passes");
    require(count, function, "count");
    static const auto* const described = [] {
      auto* found = new std::vector<of_pass>;
      for (const Pass& pass : passes())
        found->push_back({pass.name.c_str(), pass.summary.c_str(), static_cast<int32_t>(pass.level), pass.error});
      return found;
    }();
    *result = described->data();
    *count = described->size();
  });
}

of_status of_graph_optimize(of_graph graph, const of_optimize_options* given, of_graph* result, of_report* report) {
  return guard([&, function = __func__] {
    require(graph, function, "graph");
    require(result, function, "result");
    named("optimize", [&] {
      Optimization options;
      std::vector<TensorRef> inputs;
      if (given) {
        const of_optimize_options read = read_struct(given, function, "options");
        options = read_options(read, function);
        if (read.input_count) require(read.inputs, function, "inputs");
        for (const of_tensor input : std::span(read.inputs, read.input_count))
          inputs.push_back(share(require_tensor(input, function)));
      }
      options.inputs = inputs;
      Optimized optimized = optimize(*to_graph(graph), options);
      if (report) {
        auto made = std::make_unique<of_report_object>();
        made->text = table(optimized);
        made->error = optimized.error;
        made->passes = std::move(optimized.passes);
        for (const PassReport& pass : made->passes)
          made->rows.push_back({pass.name.c_str(), pass.changes, pass.calls_before, pass.calls_after, pass.error});
        *report = made.release();
      }
      *result = optimized.graph.detach();
    });
  });
}

of_status of_report_get_info(of_report report, of_report_info* info) {
  return guard([&, function = __func__] {
    require(report, function, "report");
    of_report_info result{};
    result.passes = report->rows.data();
    result.pass_count = report->rows.size();
    result.error = report->error;
    result.text = report->text.c_str();
    write_struct(info, result, function, "info");
  });
}

void of_report_release(of_report report) { delete report; }
