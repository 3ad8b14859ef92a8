#include "onnx/operators.h"

#include <oneflow/front_end.h>

#include <array>
#include <unordered_map>

namespace oneflow::onnx {

namespace {

constexpr std::array kFamilies{elementwise_operators, logic_operators,   shape_operators,    indexing_operators,
                               reduction_operators,   product_operators, window_operators,   normalization_operators,
                               recurrent_operators,   control_operators, creation_operators, image_operators,
                               signal_operators,      loss_operators,    attention_operators};

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

std::string suggestion(std::string_view domain, std::string_view name, int64_t opset) {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> all;
    for (const auto family : kFamilies)
      for (const Operator& op : family()) all.push_back(op.name.data());
    return all;
  }();
  const Operator* const newest = find_operator(domain, name, INT64_MAX);
  if (newest && newest->since > opset)
    return "which is an operator of opset " + std::to_string(newest->since) + " and later ones";
  const int32_t nearest = of_nearest_name(std::string(name).c_str(), names.data(), names.size());
  return nearest < 0 ? "" : std::string("of which the nearest is ") + names[static_cast<size_t>(nearest)];
}

}  // namespace oneflow::onnx
