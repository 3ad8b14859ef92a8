#include "onnx/operators.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

namespace oneflow::onnx {

namespace {

constexpr std::array kFamilies{elementwise_operators, logic_operators,   shape_operators,    indexing_operators,
                               reduction_operators,   product_operators, window_operators,   normalization_operators,
                               recurrent_operators,   control_operators, creation_operators, image_operators,
                               signal_operators,      loss_operators,    attention_operators};

// Returns how many letters must be inserted, removed or replaced to get from one word to another.
size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name, int64_t opset) {
  // A model looks up each of its nodes in each run.
  static const std::unordered_multimap<std::string_view, const Operator*> by_name = [] {
    std::unordered_multimap<std::string_view, const Operator*> all;
    for (const auto family : kFamilies)
      for (const Operator& op : family()) all.emplace(op.name, &op);
    return all;
  }();
  const Operator* best = nullptr;
  const auto [first, last] = by_name.equal_range(name);
  for (auto found = first; found != last; ++found) {
    const Operator& op = *found->second;
    if (op.domain == domain && op.since <= opset && (!best || op.since > best->since)) best = &op;
  }
  return best;
}

const Operator* find_function(std::string_view function) {
  for (const auto family : kFamilies)
    for (const Operator& op : family())
      if (op.function && op.function == function && op.domain.empty()) return &op;
  return nullptr;
}

std::string nearest_operator(std::string_view name) {
  std::string_view best;
  size_t least = name.size();
  for (const auto family : kFamilies) {
    for (const Operator& op : family()) {
      const size_t distance = edit_distance(name, op.name);
      if (distance >= least) continue;
      least = distance;
      best = op.name;
    }
  }
  return std::string(best);
}

}  // namespace oneflow::onnx
