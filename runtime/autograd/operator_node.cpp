#include "autograd/operator_node.h"

#include <algorithm>

#include "autograd/variable.h"
#include "dispatch/dispatch.h"
#include "dispatch/values.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kClone("clone");
constinit const OperatorName kConj("conj");
constinit const OperatorName kFull("full");

// What gradients read of an argument or of a result of a call.
enum class Read { kNothing, kForm, kElements };

Read read_of(const Schema& schema, GradientInput::From from, int position) {
  Read found = Read::kNothing;
  for (const GradientRule& rule : schema.gradients)
    for (const GradientInput& input : rule.inputs)
      if (input.from == from && input.position == position)
        found = std::max(found, input.needs_elements ? Read::kElements : Read::kForm);
  return found;
}

// Returns whether a call writes its result to this operand.
bool is_overwritten(const Call& call, const Tensor& operand) {
  bool found = false;
  for_each_given(call.results, [&](const Tensor& given) {
    found |= given.has_memory() && operand.has_memory() && given.storage().get() == operand.storage().get();
  });
  for (size_t i = 0; i < call.schema().arguments.size(); ++i)
    found |= call.schema().arguments[i].is_written && call.is_tensor(static_cast<int>(i)) &&
             call.tensor(static_cast<int>(i)).storage().get() == operand.storage().get();
  return found;
}

SavedTensor save(const Call& call, const Tensor& operand, bool with_elements) {
  if (!with_elements) return SavedTensor::form_of(operand);
  if (!is_overwritten(call, operand)) return SavedTensor::of(share(operand));
  of_value argument = to_value(operand), copy{};
  call_inside(*kClone, call.name, {&argument, 1}, {&copy, 1}, false);
  TensorRef saved = TensorRef::adopt(to_tensor(copy.as.tensor));
  if (const Edge edge = edge_of(operand); edge.node) Variable::of(*saved).set_origin(edge.node, edge.output);
  return SavedTensor::of(std::move(saved));
}

}  // namespace

Ref<OperatorNode> OperatorNode::create(const Call& call) {
  const Schema& schema = call.schema();
  auto node = Ref<OperatorNode>::adopt(new OperatorNode(call));
  for (const GradientRule& rule : schema.gradients) node->add_edges(call, rule);
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const of_value& value = call.arguments[i];
    const int argument = static_cast<int>(i);
    SavedValue saved = SavedValue::of(value);
    const bool with_elements = read_of(schema, GradientInput::kArgument, argument) == Read::kElements;
    if (value.kind == OF_VALUE_TENSOR) saved.add(save(call, call.tensor(argument), with_elements));
    if (value.kind == OF_VALUE_TENSOR_LIST)
      for (const of_tensor each : call.tensors(argument))
        saved.add(each ? save(call, *to_tensor(each), with_elements) : SavedTensor());
    node->arguments_.push_back(std::move(saved));
  }
  return node;
}

void OperatorNode::add_edges(const Call& call, const GradientRule& rule) {
  const auto add = [&](const Tensor& operand, int item) {
    Edge edge = edge_of(operand);
    if (!edge) return;
    targets_.push_back({&rule, item});
    add_edge(std::move(edge), operand);
  };
  if (call.is_tensor(rule.argument)) add(call.tensor(rule.argument), 0);
  if (call.arguments[rule.argument].kind != OF_VALUE_TENSOR_LIST) return;
  const auto list = call.tensors(rule.argument);
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i]) add(*to_tensor(list[i]), static_cast<int>(i));
}

void OperatorNode::save_results(const Call& call) {
  int position = 0;
  for_each_given(call.results, [&](const Tensor& result) {
    add_output(result);
    const Read read = read_of(op_.schema(), GradientInput::kResult, position);
    results_.push_back(read == Read::kElements ? SavedTensor::result(result)
                       : read == Read::kForm   ? SavedTensor::form_of(result)
                                               : SavedTensor());
    if (!op_.schema().gives_list) ++position;
  });
}

void OperatorNode::release_saved() noexcept {
  arguments_.clear();
  results_.clear();
}

// A call has at most one list of gradients and one list of saved tensors.
struct OperatorNode::Inputs {
  std::vector<TensorRef> tensors;
  std::vector<of_tensor> gradient_handles, handles;
};

of_value OperatorNode::input(const GradientInput& input, const Gradients& grads, int item, Inputs& memory) {
  const auto position = static_cast<size_t>(input.position);
  switch (input.from) {
    case GradientInput::kGradient: {
      if (!op_.schema().gives_list) return to_value(*grads[position]);
      for (const TensorRef& grad : grads) memory.gradient_handles.push_back(to_handle(grad.get()));
      return to_value(std::span(memory.gradient_handles));
    }
    case GradientInput::kArgument:
      return arguments_[position].get(name_, memory.tensors, memory.handles);
    case GradientInput::kResult:
      memory.tensors.push_back(results_[position].get(name_, {Ref<Node>::share(this), static_cast<int>(position), {}}));
      return to_value(*memory.tensors.back());
    case GradientInput::kItem:
      return to_value(item);
  }
  return {};
}

Gradients OperatorNode::call_gradient(const Target& target, const Gradients& grads, bool conjugates) {
  if (!target.rule->op)
    fail(OF_UNSUPPORTED, "the gradient of %s for %s is not known", name_,
         op_.schema().arguments[target.rule->argument].name);
  const Operator& op = **target.rule->op;
  Gradients given = grads;
  if (conjugates)
    for (TensorRef& grad : given)
      if (grad) grad = call_operator(kConj, grad);
  Inputs memory;
  of_value arguments[kMaxArguments];
  size_t count = 0;
  for (const GradientInput& each : target.rule->inputs) {
    of_value value = input(each, given, target.item, memory);
    const bool is_number = value.kind == OF_VALUE_BOOL || value.kind == OF_VALUE_INT || value.kind == OF_VALUE_FLOAT;
    if (is_number && op.schema().arguments[count].type == ArgumentType::kTensor) {
      const of_dtype dtype = value.kind == OF_VALUE_BOOL ? OF_BOOL : OF_FLOAT64;
      memory.tensors.push_back(call_operator(kFull, Sizes(), value, dtype, output_form(0).device));
      value = to_value(*memory.tensors.back());
    }
    arguments[count++] = value;
  }
  OwnedResults results;
  const auto result_count = static_cast<size_t>(op.schema().result_count);
  try {
    call(op, {arguments, count}, {results.values, result_count});
  } catch (const Error& error) {
    // Other ranks take no part if they have recorded nothing, which the collective cannot know.
    if (!op_.schema().between_processes || error.status() != OF_COMMUNICATION_ERROR) throw;
    throw Error(error.status(),
                error.text() + "; the operand of " + name_ + " must require a gradient on all ranks, or on none");
  }
  Gradients found;
  if (!op.schema().gives_list) {
    for (size_t i = 0; i < result_count; ++i) found.push_back(results.take(i));
    return found;
  }
  const of_value& list = results.values[0];
  for (int i = 0; i < list.count; ++i) found.push_back(share(*to_tensor(list.as.tensors[i])));
  return found;
}

Gradients OperatorNode::compute(const Gradients& grads, const std::vector<bool>& wanted) {
  const Gradients given = with_zeros(grads);
  const bool conjugates =
      std::any_of(given.begin(), given.end(), [](const TensorRef& grad) { return is_complex(grad->dtype()); });
  Gradients found(targets_.size());
  const auto store = [&](size_t edge, TensorRef grad, bool conjugated) {
    if (conjugated) grad = call_operator(kConj, grad);
    found[edge] = in_form(std::move(grad), edge_form(edge));
  };
  for (size_t edge = 0; edge < targets_.size(); ++edge) {
    if (!wanted[edge] || found[edge]) continue;
    const GradientRule& rule = *targets_[edge].rule;
    const bool conjugated = conjugates && rule.is_transpose;
    const Gradients results = call_gradient(targets_[edge], given, conjugated);
    const bool gives_list = (**rule.op).schema().gives_list;
    for (size_t other = edge; other < targets_.size(); ++other) {
      const Target& target = targets_[other];
      const bool is_given =
          gives_list ? target.rule == &rule : target.rule->op == rule.op && target.item == targets_[edge].item;
      const int position = gives_list ? target.item : target.rule->result;
      if (is_given && wanted[other]) store(other, results[static_cast<size_t>(position)], conjugated);
    }
  }
  return found;
}

}  // namespace oneflow::autograd
