#include "graph/passes/optimize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/characters.h"
#include "base/error.h"
#include "graph/passes/measure.h"

namespace oneflow::graph {

namespace {

using Outputs = std::optional<std::vector<TensorRef>>;

// Passes that enable each other forever would be a defect; they end after so many rounds.
constexpr int kMaxRounds = 20;

void check_names(const std::set<std::string>& without) {
  for (const std::string& name : without)
    if (std::none_of(passes().begin(), passes().end(), [&](const Pass& pass) { return pass.name == name; }))
      fail(OF_INVALID_ARGUMENT, "there is no pass '%s'", printable(name).c_str());
}

// Returns the rules of the caller, and after them the passes that run.
std::vector<Pass> chosen_passes(const Optimization& options) {
  std::vector<Pass> chosen;
  for (const CallerRule& rule : options.rules)
    chosen.push_back(
        {rule.name, "", Level::kRounding, rule.error, [&](Editor& editor) { return apply(rule, editor); }});
  for (const Pass& pass : passes())
    if (options.runs_passes && pass.level <= options.level && !options.without.contains(pass.name))
      chosen.push_back(pass);
  return chosen;
}

double error_of(const Outputs& outputs, const Outputs& others) {
  return outputs && others ? difference(*outputs, *others) : NAN;
}

// Adds what a pass has done in one round to the report.
void add(std::vector<PassReport>& reports, PassReport report) {
  const auto found =
      std::find_if(reports.begin(), reports.end(), [&](const PassReport& each) { return each.name == report.name; });
  if (found == reports.end()) {
    reports.push_back(std::move(report));
    return;
  }
  found->changes += report.changes;
  found->calls_after -= report.calls_before - report.calls_after;
  found->error = std::isnan(report.error) ? report.error : std::max(found->error, report.error);
}

std::string error_text(double error) { return std::isnan(error) ? "?" : error == 0 ? "0" : format_text("%.1e", error); }

}  // namespace

std::string table(const Optimized& optimized) {
  using Row = std::array<std::string, 4>;
  std::vector<Row> rows = {{"pass", "changes", "calls", "error"}};
  int64_t changes = 0;
  for (const PassReport& pass : optimized.passes) {
    rows.push_back({pass.name, std::to_string(pass.changes),
                    format_text("%ld -> %ld", pass.calls_before, pass.calls_after), error_text(pass.error)});
    changes += pass.changes;
  }
  rows.push_back({"all", std::to_string(changes),
                  format_text("%zu -> %zu", optimized.calls_before, optimized.graph->program().nodes.size()),
                  error_text(optimized.error)});
  std::string text;
  for (const Row& row : rows) {
    for (size_t column = 0; column < row.size(); ++column) {
      size_t width = 0;
      for (const Row& each : rows) width = std::max(width, each[column].size());
      text += (column ? "  " : "") + row[column];
      if (column + 1 < row.size()) text.append(width - row[column].size(), ' ');
    }
    text += &row == &rows.back() ? "" : "\n";
  }
  return text;
}

Optimized optimize(const Graph& graph, const Optimization& options) {
  check_names(options.without);
  Outputs inputs = options.inputs.empty() ? random_inputs(graph.program())
                                          : Outputs(std::in_place, options.inputs.begin(), options.inputs.end());
  if (!options.measures) inputs.reset();
  const auto run = [&](const Program& program) { return inputs ? run_once(program, *inputs) : Outputs(); };
  // A failure with inputs of the caller is an error.
  const Outputs original =
      options.measures && !options.inputs.empty() ? run_with(graph.program(), options.inputs) : run(graph.program());
  Outputs before = original;

  Optimized optimized;
  optimized.calls_before = graph.program().nodes.size();
  Editor editor(graph.program());
  const std::vector<Pass> chosen = chosen_passes(options);
  // Runs a pass, and reports what it has done. Returns whether it has changed anything.
  const auto apply_pass = [&](const Pass& pass) {
    const int64_t calls = editor.call_count();
    const int64_t changes = pass.run(editor);
    if (changes == 0) return false;
    Outputs after = run(editor.finished());
    add(optimized.passes, {pass.name, changes, calls, editor.call_count(), error_of(before, after)});
    before = std::move(after);
    return true;
  };
  bool has_changed = true;
  for (int round = 0; has_changed && round < kMaxRounds; ++round) {
    has_changed = false;
    for (const Pass& pass : chosen) has_changed |= apply_pass(pass);
  }
  if (options.weights != OF_DTYPE_NONE)
    apply_pass({"narrow_weights", "", Level::kRounding, 0,
                [&](Editor& each) { return each.narrow_constants(options.weights); }});
  optimized.error = error_of(original, before);
  optimized.graph = Graph::create(editor.finished());
  return optimized;
}

}  // namespace oneflow::graph
