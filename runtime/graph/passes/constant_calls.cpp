// Computes calls whose operands are constants.
#include <algorithm>

#include "base/error.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"
#include "graph/passes/pass.h"

namespace oneflow::graph {

namespace {

constinit const OperatorName kContiguous("contiguous");

// A result that has more elements than the operands is kept only if it is small: a graph should not grow by what can be
// made of a few numbers.
constexpr int64_t kSmall = 4096;

bool is_worth_keeping(const Editor& editor, const Node& node) {
  int64_t operands = 0, results = 0;
  for_each_operand(node, [&](ValueId value) { operands += editor.constant(value)->count(); });
  for (const ValueId result : node.results) results += editor.form_of(result).count();
  return results <= std::max(operands, kSmall);
}

bool is_constant(const Editor& editor, const Node& node, int call) {
  if (node.writes || node.op->schema().gives_list || has_effects(*node.op) || node.results.empty()) return false;
  bool holds = true;
  for_each_needed(node, [&](ValueId value) { holds = holds && editor.constant(value) && editor.is_fixed(value); });
  for (const Argument& argument : node.arguments)
    for (const SizeExpression& size : argument.sizes) holds &= size.is_constant();
  for (const ValueId result : node.results) holds &= editor.is_fixed(result) && editor.definition(result) == call;
  return holds && is_worth_keeping(editor, node);
}

// Computes the results of a call. `registers` hold no tensors, before and after that.
std::vector<TensorRef> compute(const Editor& editor, const Node& node, Registers& registers) {
  registers.tensors.resize(editor.value_count());
  for_each_operand(node, [&](ValueId value) { registers.tensors[index(value)] = editor.constant(value); });
  BoundCall bound;
  bound.bind(node, registers, nullptr);
  for_each_operand(node, [&](ValueId value) { registers.tensors[index(value)] = {}; });
  const OpenLayers own(kOwnLayers);  // a capture that goes on has no part in it
  OwnedResults results;
  const auto count = static_cast<size_t>(node.op->schema().result_count);
  call_inside(*node.op, nullptr, bound.arguments(), {results.values, count}, false);
  std::vector<TensorRef> found;
  for (size_t i = 0; i < count; ++i) found.push_back(results.take(i));
  for (TensorRef& tensor : found) tensor = call_operator(kContiguous, *tensor);
  return found;
}

}  // namespace

int64_t fold_constants(Editor& editor) {
  int64_t count = 0;
  Registers registers;
  for (int call = editor.first(); call >= 0; call = editor.next(call)) {
    const Node& node = editor.node(call);
    if (!is_constant(editor, node, call)) continue;
    std::vector<TensorRef> results;
    try {
      results = compute(editor, node, registers);
    } catch (const Error& error) {
      if (!is_refusal(error)) throw;
      continue;  // a run reports it
    }
    for (size_t i = 0; i < results.size(); ++i)
      if (editor.use_count(node.results[i]) > 0) editor.make_constant(node.results[i], std::move(results[i]));
    ++count;
  }
  if (count) editor.remove_unused();
  return count;
}

int64_t remove_unused(Editor& editor) {
  const int64_t before = editor.call_count();
  editor.remove_unused();
  return before - editor.call_count();
}

}  // namespace oneflow::graph
