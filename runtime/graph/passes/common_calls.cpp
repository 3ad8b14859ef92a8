// Computes once what a program computes several times.
#include <string_view>
#include <unordered_map>

#include "graph/passes/pass.h"

namespace oneflow::graph {

namespace {

// Returns whether two calls with the same arguments give the same results.
bool is_repeatable(const Editor& editor, const Node& node, int call) {
  if (node.writes || node.results.empty() || has_effects(*node.op)) return false;
  bool holds = true;
  for_each_needed(node, [&](ValueId value) { holds &= editor.is_fixed(value); });
  for (const ValueId result : node.results) holds &= editor.is_fixed(result) && editor.definition(result) == call;
  return holds;
}

// Returns a number that is the same for calls of the same operator with the same arguments.
uint64_t hash_of(const Node& node) {
  uint64_t hash = reinterpret_cast<uintptr_t>(node.op);
  const auto mix = [&](uint64_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15, hash ^= hash >> 29; };
  for (const Argument& argument : node.arguments) {
    mix(argument.kind);
    mix(argument.number.as.natural);
    mix(static_cast<uint64_t>(argument.dtype));
    mix(std::hash<std::string_view>()(argument.text));
    for (const SizeExpression& size : argument.sizes) mix(static_cast<uint64_t>(size.constant));
    for (const ValueId value : argument.values) mix(static_cast<uint64_t>(value));
  }
  return hash;
}

}  // namespace

int64_t merge_common_calls(Editor& editor) {
  std::unordered_multimap<uint64_t, int> known;
  int64_t count = 0;
  for (int call = editor.first(); call >= 0; call = editor.next(call)) {
    const Node& node = editor.node(call);
    if (!is_repeatable(editor, node, call)) continue;
    bool is_merged = false;
    const uint64_t hash = hash_of(node);
    const auto [begin, end] = known.equal_range(hash);
    for (auto each = begin; each != end && !is_merged; ++each) {
      const Node& earlier = editor.node(each->second);
      if (earlier.op != node.op || earlier.arguments != node.arguments || earlier.results.size() != node.results.size())
        continue;
      is_merged = true;
      for (size_t i = 0; i < node.results.size(); ++i)
        is_merged &= editor.use_count(node.results[i]) > 0 && editor.replace_value(node.results[i], earlier.results[i]);
    }
    if (is_merged)
      ++count;
    else
      known.emplace(hash, call);
  }
  return count;
}

}  // namespace oneflow::graph
