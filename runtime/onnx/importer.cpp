#include "onnx/importer.h"

#include <algorithm>

#include "onnx/tensors.h"

namespace oneflow::onnx {

namespace {

// How deep calls of functions may be nested: a function must not call itself.
constexpr int kMaxCalls = 64;
// Results of more elements are left to the graph if they vary with sizes: they are no shapes.
constexpr int64_t kMaxComputed = 1024;
// How many nodes may run, which is what bounds functions that call others several times, and loops in loops.
constexpr int64_t kMaxNodes = 250000;

// Calls our operator, or operators, for a node.
std::vector<Tensor> apply(const Operator& found, NodeCall& call) {
  if (found.convert) return found.convert(call);
  return {call_function(found.function, call.tensors())};
}

}  // namespace

std::string describe(const NodeProto& node, int64_t opset) {
  const std::string_view shown = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs[0];
  std::string text = "node '" + std::string(shown) + "' (";
  if (!node.domain.empty()) text += std::string(node.domain) + ".";
  return text + std::string(node.type) + ", opset " + std::to_string(opset) + ")";
}

ValueRef Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer_)
    if (const auto found = scope->values_.find(name); found != scope->values_.end()) return found->second;
  return nullptr;
}

std::vector<const ValueProto*> open_inputs(const ModelProto& model, const std::map<std::string, Tensor>& given) {
  std::unordered_set<std::string_view> known;
  for (const TensorProto& tensor : model.graph.initializers) known.insert(tensor.name);
  for (const auto& [name, tensor] : given) known.insert(name);
  std::vector<const ValueProto*> open;
  for (const ValueProto& input : model.graph.inputs)
    if (!known.contains(input.name)) open.push_back(&input);
  return open;
}

bool Importer::is_too_large(const NodeProto& node, int64_t elements) {
  if (run_count_ == 1 && elements > kMaxComputed) left_to_graph_.insert(&node);
  return left_to_graph_.contains(&node);
}

void Importer::name(const Value& value) const {
  // A name that graphs do not allow leaves the constant without one.
  if (!value.name.empty()) (void)of_capture_name(capture_, value.known.get(), value.name.c_str());
}

std::vector<Tensor> Importer::run(of_capture capture, const std::vector<Tensor>& tensors) {
  capture_ = capture;
  ++run_count_;
  node_count_ = 0;
  scopes_.clear();
  Scope& scope = new_scope(nullptr, true);
  scope.opsets = &model_.opsets;
  for (const auto& [name, tensor] : given_) scope.set(name, std::make_shared<Value>(Value{name, tensor}));
  for (size_t i = 0; i < inputs_.size(); ++i)
    scope.set(inputs_[i]->name, std::make_shared<Value>(Value{std::string(inputs_[i]->name), {}, false, tensors[i]}));
  std::vector<Tensor> outputs;
  for (const ValueRef& value : run_graph(model_.graph, scope)) {
    if (!value->varies && value->is_known()) name(*value);
    outputs.push_back(value->in_graph());
  }
  return outputs;
}

std::vector<ValueRef> Importer::run_graph(const GraphProto& graph, Scope& scope) {
  if (graph.has_sparse_initializers) throw Unsupported("sparse initializers are not supported");
  for (const TensorProto& tensor : graph.initializers) {
    ValueRef& value = initializers_[&tensor];
    if (!value) {
      const Computing computing(capture_);
      value = std::make_shared<Value>(Value{std::string(tensor.name), to_tensor(tensor, files_)});
    }
    if (!given_.contains(value->name) || scope.outer()) scope.set(tensor.name, value);
  }
  run_nodes(graph.nodes, scope);
  std::vector<ValueRef> outputs;
  for (const ValueProto& output : graph.outputs) {
    outputs.push_back(scope.find(output.name));
    if (!outputs.back())
      throw InvalidArgument("the output '" + std::string(output.name) + "' is not a result of any node");
  }
  return outputs;
}

void Importer::run_nodes(std::span<const NodeProto> nodes, Scope& scope) {
  for (const NodeProto& node : nodes) {
    if (++node_count_ > kMaxNodes)
      throw TooManyNodes("the model has more than " + std::to_string(kMaxNodes) +
                         " nodes when its functions are expanded and its loops unrolled");
    const std::vector<ValueRef> results = call(node, scope);
    for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
      if (node.outputs[i].empty() || !results[i]) continue;
      if (results[i]->name.empty()) results[i]->name = node.outputs[i];
      scope.set(node.outputs[i], results[i]);
    }
  }
}

int64_t Importer::opset_of(const NodeProto& node, const Scope& scope) const {
  for (const Scope* around = &scope; around; around = around->outer())
    if (around->opsets) return version_of(*around->opsets, node.domain);
  return 1;
}

std::vector<ValueRef> Importer::call(const NodeProto& node, Scope& scope) {
  const int64_t opset = opset_of(node, scope);
  try {
    Operands operands;
    for (const std::string_view name : node.inputs) {
      operands.push_back(name.empty() ? nullptr : scope.find(name));
      if (!operands.back() && !name.empty())
        throw InvalidArgument("its input '" + std::string(name) + "' is not the result of a node before");
    }
    if (const FunctionProto* const function = model_.find_function(node))
      return call_function(node, *function, operands, scope);
    const Operator* const found = find_operator(node.domain, node.type, opset);
    if (!found) throw Unsupported("this operator cannot be loaded");
    return call_operator(node, *found, opset, operands, scope);
  } catch (const TooManyNodes&) {
    throw;
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.starts_with("node '")) throw;
    throw Error(error.status(), describe(node, opset) + ": " + text);
  }
}

std::vector<ValueRef> Importer::call_operator(const NodeProto& node, const Operator& found, int64_t opset,
                                              const Operands& operands, Scope& scope) {
  if (found.convert_values) {
    NodeCall call(*this, scope, node, opset, operands, false);
    return found.convert_values(call);
  }
  const bool is_known =
      std::ranges::all_of(operands, [](const ValueRef& value) { return !value || value->is_known(); });
  if (!is_known || found.draws_numbers) return record(node, found, opset, operands, scope);
  const bool varies = std::ranges::any_of(operands, [](const ValueRef& value) { return value && value->varies; });
  if (varies || !scope.runs_once()) {
    try {
      return compute(node, found, opset, operands, scope);
    } catch (const TooLargeToCompute&) {
      return record(node, found, opset, operands, scope);
    }
  }
  const auto cached = computed_.find(&node);
  if (cached != computed_.end()) return cached->second;
  try {
    return computed_[&node] = compute(node, found, opset, operands, scope);
  } catch (const TooLargeToCompute&) {
    computed_.erase(&node);
    return record(node, found, opset, operands, scope);
  }
}

std::vector<ValueRef> Importer::compute(const NodeProto& node, const Operator& found, int64_t opset,
                                        const Operands& operands, Scope& scope) {
  std::vector<ValueRef> results;
  bool varies = false;
  for (const ValueRef& value : operands) varies |= value && value->varies;
  {
    const Computing computing(capture_);
    NodeCall call(*this, scope, node, opset, operands, true);
    for (Tensor& tensor : apply(found, call)) {
      if (tensor.is_empty_handle()) {
        results.push_back(nullptr);
        continue;
      }
      results.push_back(std::make_shared<Value>(Value{"", std::move(tensor), varies}));
    }
  }
  if (varies) {
    auto pending = std::make_shared<PendingCalls>();
    pending->record = [this, &node, &found, opset, operands, &scope] {
      NodeCall call(*this, scope, node, opset, operands, false);
      return apply(found, call);
    };
    for (const ValueRef& result : results) {
      pending->results.push_back(result);
      if (result) result->pending = pending;
    }
  }
  return results;
}

std::vector<ValueRef> Importer::record(const NodeProto& node, const Operator& found, int64_t opset,
                                       const Operands& operands, Scope& scope) {
  NodeCall call(*this, scope, node, opset, operands, false);
  std::vector<ValueRef> results;
  for (Tensor& tensor : apply(found, call))
    results.push_back(tensor.is_empty_handle() ? nullptr : call.graph_value(std::move(tensor)));
  return results;
}

std::vector<ValueRef> Importer::call_function(const NodeProto& node, const FunctionProto& function,
                                              const Operands& operands, Scope& scope) {
  if (function_depth_ >= kMaxCalls) throw InvalidArgument("the function calls itself");
  Scope& inner = new_scope(nullptr, false);
  inner.opsets = &function.opsets;
  for (const AttributeProto& attribute : function.defaults) inner.attributes[attribute.name] = &attribute;
  const NodeCall call(*this, scope, node, 0, operands, false);
  for (const AttributeProto& attribute : node.attributes)
    if (const AttributeProto* const given = call.attribute(attribute.name)) inner.attributes[attribute.name] = given;
  for (size_t i = 0; i < function.inputs.size() && i < operands.size(); ++i)
    if (operands[i]) inner.set(function.inputs[i], operands[i]);
  ++function_depth_;
  try {
    run_nodes(function.nodes, inner);
  } catch (...) {
    --function_depth_;
    throw;
  }
  --function_depth_;
  std::vector<ValueRef> results;
  for (const std::string_view name : function.outputs) results.push_back(inner.find(name));
  return results;
}

}  // namespace oneflow::onnx
