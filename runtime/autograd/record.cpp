#include "autograd/record.h"

#include <algorithm>
#include <vector>

#include "autograd/operator_node.h"
#include "autograd/variable.h"
#include "autograd/view_write.h"
#include "dispatch/dimension_map.h"
#include "dispatch/layers.h"

namespace oneflow::autograd {

namespace {

bool any_requires_grad(const Call& call) {
  bool found = false;
  for_each_tensor(call, [&](int, int, const Tensor& tensor) { found = found || requires_grad(tensor); });
  for_each_given(call.results, [&](const Tensor& tensor) { found = found || requires_grad(tensor); });
  return found;
}

// Calls visit(tensor) for each tensor that a call writes to: those for results, and arguments that it overwrites.
template <class Visit>
void for_each_written(const Call& call, Visit&& visit) {
  for_each_given(call.results, visit);
  for_each_tensor(call, [&](int, int argument, const Tensor& tensor) {
    if (call.schema().arguments[static_cast<size_t>(argument)].is_written) visit(tensor);
  });
}

// Returns whether an operator writes to its arguments, and has no gradient: it is called to update tensors.
bool is_update(const Schema& schema) {
  const auto is_written = [](const Argument& argument) { return argument.is_written; };
  return schema.gradients.empty() && !schema.has_body &&
         std::any_of(schema.arguments.begin(), schema.arguments.end(), is_written);
}

// Throws InvalidArgument for a write that has no gradient.
void check_writes(const Call& call) {
  if (form_of(call) == OF_FORM_OUT)
    fail(OF_INVALID_ARGUMENT,
         "a call that writes to a tensor of the caller has no gradient, but an argument or that "
         "tensor requires one");
  for_each_written(call, [](const Tensor& written) {
    const Tensor& whole = written.is_view() ? *written.base() : written;
    Variable* const variable = Variable::find(whole);
    if (variable && variable->is_leaf() && variable->requires_grad())
      fail(OF_INVALID_ARGUMENT, "%s requires a gradient, so it cannot be changed in place while calls are recorded",
           written.is_view() ? "a view of a leaf" : "a leaf");
  });
}

// Returns whether a result is an argument that the call has returned as it is. A result in the memory of a donated
// operand is not: that operand had no history, and is gone.
bool is_operand(const Call& call, const Tensor& result) {
  if (&result == call.donated && !Variable::find(result)) return false;
  bool found = false;
  for_each_tensor(call, [&](int, int, const Tensor& tensor) { found |= &tensor == &result; });
  return found;
}

// Returns the tensors that a call is about to write to.
std::vector<const Tensor*> written_by(const Call& call) {
  std::vector<const Tensor*> written;
  for_each_written(call, [&](const Tensor& tensor) { written.push_back(&tensor); });
  return written;
}

// Makes a result an output of the node of its call, which has written to the tensors `written`.
void attach(const Call& call, const std::vector<const Tensor*>& written, const Ref<Node>& node, const Tensor& result,
            int output) {
  if (!is_differentiable(result.dtype())) return;
  if (std::find(written.begin(), written.end(), &result) == written.end()) {
    if (is_operand(call, result)) return;
    Variable* const base = result.is_view() ? Variable::find(*result.base()) : nullptr;
    Variable::of(result).set_origin(node, output, base ? base->generation() : 0);
  } else if (result.is_view()) {
    record_view_write(result, node, output);
  } else {
    Variable& variable = Variable::of(result);
    variable.set_origin(node, output, variable.generation() + 1);
  }
}

void record(of_layer_call& state) {
  Call& call = state.call;
  const Schema& schema = call.schema();
  if (call.infer_only || is_update(schema) || !any_requires_grad(call)) return next_layer(state, OF_BODY_HIDDEN);
  const std::vector<const Tensor*> written = written_by(call);
  if (!written.empty()) check_writes(call);
  if (schema.gradients.empty()) return next_layer(state, schema.has_body ? OF_BODY_SEEN : OF_BODY_HIDDEN);
  const Ref<OperatorNode> node = OperatorNode::create(call);
  if (node->edges().empty() && written.empty()) return next_layer(state, OF_BODY_HIDDEN);
  next_layer(state, OF_BODY_HIDDEN);
  node->save_results(call);
  const Ref<Node> recorded = Ref<Node>::share(node.get());
  int output = 0;
  for_each_given(call.results, [&](const Tensor& result) { attach(call, written, recorded, result, output++); });
}

}  // namespace

void install() {
  require_layer(OF_LAYER_AUTOGRAD, [](void*, of_layer_call* state) { return guard([&] { record(*state); }); });
  Tensor::observe_views(Variable::keep_constant);
}

}  // namespace oneflow::autograd
