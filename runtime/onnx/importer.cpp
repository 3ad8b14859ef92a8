#include "onnx/importer.h"

#include <algorithm>

#include "onnx/tensors.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

// How deep calls of functions may be nested: a function must not call itself.
constexpr int kMaxCalls = 64;
// Results that vary with sizes are left to the graph if computing them needs more bytes: they are no shapes.
constexpr uint64_t kMostVarying = uint64_t{1} << 13;
// How many bytes of constants may be computed: these, and some for each byte of the model's tensors, so that those can
// be converted and arranged, but a small model does not fill the memory.
constexpr uint64_t kMostSmall = uint64_t{1} << 26, kMostPerByte = 16;
// How many nodes may run, which is what bounds functions that call others several times, and loops in loops.
constexpr int64_t kMaxNodes = 250000;

// Calls our operator, or operators, for a node.
std::vector<Tensor> apply(const Operator& found, NodeCall& call) {
  if (found.convert) return found.convert(call);
  return {call_function(found.function, call.tensors())};
}

// Returns the bytes of all elements of known operands, which may be views of fewer.
uint64_t bytes_of(const Operands& operands) {
  uint64_t bytes = 0;
  for (const ValueRef& value : operands)
    if (value) bytes += static_cast<uint64_t>(value->known.count()) * of_dtype_size(value->known.dtype());
  return bytes;
}

}  // namespace

std::string describe(const NodeProto& node, int64_t opset) {
  const std::string_view shown = !node.name.empty() ? node.name : node.outputs.empty() ? "" : node.outputs[0];
  std::string text = "node " + in_quotes(shown) + " (";
  if (!node.domain.empty()) text += printable(node.domain) + ".";
  return text + printable(node.type) + ", opset " + std::to_string(opset) + ")";
}

ValueRef Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer_)
    if (const auto found = scope->values_.find(name); found != scope->values_.end()) return found->second;
  return nullptr;
}

const AttributeProto* Scope::resolve(const AttributeProto& attribute) const {
  if (attribute.referred.empty()) return &attribute;
  for (const Scope* scope = this; scope; scope = scope->outer_)
    if (const auto given = scope->attributes.find(attribute.referred); given != scope->attributes.end())
      return given->second;
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

size_t Importer::PlaceHash::operator()(const Place& place) const {
  const size_t where = std::hash<const void*>()(place.what);
  return (where * 31 + static_cast<size_t>(place.scope)) * 1000003 + static_cast<size_t>(place.number);
}

Importer::Importer(const ModelProto& model, ModelFiles& files, std::map<std::string, Tensor> given)
    : model_(model), files_(files), given_(std::move(given)), inputs_(open_inputs(model, given_)) {}

uint64_t Importer::allowance() const { return kMostSmall + kMostPerByte * files_.bytes(); }
uint64_t Importer::allowance_left() const { return allowance() - std::min(allowance(), computed_bytes_); }

const Tensor& Importer::tensor(const TensorProto& proto) {
  Tensor& tensor = tensors_[&proto];
  if (tensor.is_empty_handle()) tensor = to_tensor(proto, files_);
  return tensor;
}

void Importer::start(bool sizes_vary, bool again) {
  // Where all sizes are fixed, what follows from them is constant.
  if (!sizes_vary || !sizes_vary_) forget_constants();
  if (!again) refused_.clear();
  sizes_vary_ = sizes_vary;
  run_count_ = 0;
  starts_again_ = false;
  left_to_graph_.clear();
}

void Importer::forget_constants() {
  computed_.clear();
  made_.clear();
  computed_bytes_ = 0;
}

Scope& Importer::new_scope(const Scope* outer, const Scope& caller, const void* what, int64_t step) {
  const auto next = static_cast<int64_t>(scope_numbers_.size()) + 1;
  return scopes_.emplace_back(outer, scope_numbers_.try_emplace({caller.number(), what, step}, next).first->second);
}

void Importer::count_work(int64_t count) {
  work_ += count;
  work_of_run_ += count;
  largest_run_ = std::max(largest_run_, work_of_run_);
  if (work_of_run_ > kMaxNodes)
    throw TooManyNodes("the model has more than " + std::to_string(kMaxNodes) +
                       " nodes when its functions are expanded and its loops unrolled");
}

void Importer::decide(const NodeProto& node, const Scope& scope, int64_t decision) {
  const int64_t before = decisions_.try_emplace({scope.number(), &node, 0}, decision).first->second;
  if (before == decision) return;
  if (run_count_ > 1) throw InvalidArgument("which nodes run depends on sizes that vary");
  // Another capture, with other sizes: other constants may follow.
  decisions_[{scope.number(), &node, 0}] = decision;
  forget_constants();
}

bool Importer::has_room(int64_t count) const {
  return static_cast<uint64_t>(count) <= allowance_left() / sizeof(double);
}

bool Importer::is_constant(const NodeProto& node, const Scope& scope, size_t number, const std::vector<double>& key,
                           int64_t count) {
  const Place place{scope.number(), &node, static_cast<int64_t>(number)};
  if (refused_.contains(place)) return false;
  MadeConstant& made = made_[place];
  if (!made.tensor.is_empty_handle() && made.key == key) return true;
  if (run_count_ > 1 && made.key != key) {
    refused_.emplace(place, InvalidArgument("it needs a table of numbers that depends on sizes that vary"));
    starts_again_ = true;
    return false;
  }
  if (!has_room(count)) {
    refused_.emplace(place, Unsupported("it needs a table of numbers that is too large for this model"));
    return false;
  }
  made = {key, {}};
  return true;
}

Tensor Importer::make_constant(const NodeProto& node, const Scope& scope, size_t number, const std::vector<double>& key,
                               int64_t count, const std::function<Tensor()>& make) {
  const Place place{scope.number(), &node, static_cast<int64_t>(number)};
  if (!is_constant(node, scope, number, key, count)) throw refused_.at(place);
  MadeConstant& made = made_[place];
  if (made.tensor.is_empty_handle()) {
    const Computing computing(capture_, UINT64_MAX);
    made.tensor = make();
    computed_bytes_ += static_cast<uint64_t>(count) * sizeof(double);
  }
  return made.tensor;
}

void Importer::name(const Value& value) const {
  // A name that graphs do not allow leaves the constant without one.
  if (!value.name.empty()) (void)of_capture_name(capture_, value.known.get(), value.name.c_str());
}

std::vector<Tensor> Importer::run(of_capture capture, const std::vector<Tensor>& tensors) {
  capture_ = capture;
  ++run_count_;
  work_of_run_ = 0;
  function_depth_ = 0;
  scopes_.clear();
  Scope& scope = scopes_.emplace_back(nullptr, 0);
  scope.opsets = &model_.opsets;
  for (const auto& [name, tensor] : given_) scope.set(name, std::make_shared<Value>(Value{name, tensor}));
  for (size_t i = 0; i < inputs_.size(); ++i)
    scope.set(inputs_[i]->name, std::make_shared<Value>(Value{std::string(inputs_[i]->name), {}, false, tensors[i]}));
  std::vector<Tensor> outputs;
  for (const ValueRef& value : run_graph(model_.graph, scope)) {
    if (!value->varies && value->is_known()) name(*value);
    outputs.push_back(value->in_graph());
  }
  if (std::exchange(starts_again_, false)) throw StartAgain();
  return outputs;
}

std::vector<ValueRef> Importer::run_graph(const GraphProto& graph, Scope& scope) {
  if (graph.has_sparse_initializers) throw Unsupported("sparse initializers are not supported");
  // A step of a loop takes a while even without nodes.
  count_work(static_cast<int64_t>(graph.nodes.empty() + (graph.initializers.size() + graph.outputs.size()) / 16));
  for (const TensorProto& tensor : graph.initializers) {
    ValueRef& value = initializers_[&tensor];
    if (!value) {
      const Computing computing(capture_, UINT64_MAX);
      value = std::make_shared<Value>(Value{std::string(tensor.name), this->tensor(tensor)});
    }
    if (!given_.contains(value->name) || scope.outer()) scope.set(tensor.name, value);
  }
  run_nodes(graph.nodes, scope);
  std::vector<ValueRef> outputs;
  for (const ValueProto& output : graph.outputs) {
    outputs.push_back(scope.find(output.name));
    if (!outputs.back()) throw InvalidArgument("the output " + in_quotes(output.name) + " is not a result of any node");
  }
  return outputs;
}

void Importer::run_nodes(std::span<const NodeProto> nodes, Scope& scope) {
  for (const NodeProto& node : nodes) {
    count_work(1);
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
        throw InvalidArgument("its input " + in_quotes(name) + " is not the result of a node before");
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
    // An operand too many or too few is a mistake of the model, not of the caller.
    const of_status status = error.status() == OF_TYPE_MISMATCH ? OF_INVALID_ARGUMENT : error.status();
    throw Error(status, describe(node, opset) + ": " + text);
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
  const Place place{scope.number(), &node, 0};
  if (!varies)
    if (const auto cached = computed_.find(place); cached != computed_.end()) return cached->second;
  if (run_count_ == 1 && bytes_of(operands) > allowance()) left_to_graph_.insert(place);
  if (left_to_graph_.contains(place)) return record(node, found, opset, operands, scope);
  try {
    std::vector<ValueRef> results = compute(node, found, opset, operands, scope, varies);
    if (!varies) computed_[place] = results;
    return results;
  } catch (const Error& error) {
    if (error.status() != OF_OUT_OF_MEMORY) throw;
  }
  left_to_graph_.insert(place);
  return record(node, found, opset, operands, scope);
}

std::vector<ValueRef> Importer::compute(const NodeProto& node, const Operator& found, int64_t opset,
                                        const Operands& operands, Scope& scope, bool varies) {
  std::vector<ValueRef> results;
  {
    // What the first run computes must not be too much for later ones, which have larger sizes.
    const uint64_t most = !varies ? allowance_left() : run_count_ == 1 ? kMostVarying : kMostSmall;
    const Computing computing(capture_, most);
    NodeCall call(*this, scope, node, opset, operands, true);
    std::vector<Tensor> tensors = apply(found, call);
    if (!varies) computed_bytes_ += computing.allocated();
    for (Tensor& tensor : tensors) {
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
  Scope& inner = new_scope(nullptr, scope, &node, 0);
  inner.opsets = &function.opsets;
  for (const AttributeProto& attribute : function.defaults) inner.attributes[attribute.name] = &attribute;
  for (const AttributeProto& attribute : node.attributes)
    if (const AttributeProto* const given = scope.resolve(attribute)) inner.attributes[attribute.name] = given;
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
