#include "graph/passes/pass.h"

#include <algorithm>
#include <deque>

namespace oneflow::graph {

namespace {

std::vector<Pass> make_passes() {
  std::vector<Pass> found = {
      {"unused_calls", "Removes calls whose results nothing needs.", Level::kCleanup, 0, remove_unused},
      {"common_calls", "Computes calls of the same operator with the same arguments once.", Level::kCleanup, 0,
       merge_common_calls},
      {"constant_calls", "Computes calls of constants, and keeps the results.", Level::kExact, 0, fold_constants},
  };
  static std::deque<Operator> right_sides;  // of the rules; never destroyed
  for (const Rule& rule : kRules) {
    const Operator& right = right_sides.emplace_back(*rule.schema);
    found.push_back({rule.schema->name, rule.schema->summary, rule.error > 0 ? Level::kRounding : Level::kExact,
                     rule.error, [&](Editor& editor) { return apply(rule, right, editor); }});
  }
  // Those that change no bit make it easier for others to match.
  std::stable_sort(found.begin(), found.end(), [](const Pass& a, const Pass& b) { return a.level < b.level; });
  return found;
}

}  // namespace

const std::vector<Pass>& passes() {
  static const auto* const found = new std::vector<Pass>(make_passes());
  return *found;
}

}  // namespace oneflow::graph
