#include "graph/capture/recording.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "dispatch/dimension_map.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"

namespace oneflow::graph {

namespace {

constexpr uint32_t kCaptureBit = uint32_t{1} << OF_LAYER_CAPTURE;

// What a tensor that stands for a value carries.
struct Symbol {
  Ref<Recording> recording;
  ValueId value;
};

const Symbol* symbol_of(const Tensor& tensor) {
  return static_cast<const Symbol*>(tensor.extensions().find(OF_LAYER_CAPTURE));
}

thread_local Ref<Recording> current;

// Returns the recording that a call belongs to; null if there is none.
Recording* recording_of(const Call& call) {
  Recording* found = current && current->is_open() ? current.get() : nullptr;
  const auto look = [&](const Tensor& tensor) {
    if (const Symbol* symbol = symbol_of(tensor); symbol && !found) found = symbol->recording.get();
  };
  for_each_tensor(call, [&](int, int, const Tensor& tensor) { look(tensor); });
  for_each_given(call.results, look);
  return found;
}

// Returns whether a tensor of a call stands for a value.
bool is_symbolic(const Call& call) {
  bool found = false;
  for_each_tensor(call, [&](int, int, const Tensor& tensor) { found |= symbol_of(tensor) != nullptr; });
  for_each_given(call.results, [&](const Tensor& tensor) { found |= symbol_of(tensor) != nullptr; });
  return found;
}

// Returns whether a call of lazy_clone stands for a read of elements by a function that is no operator. Bodies of
// composites call it, too.
bool is_read(const Call& call) {
  if (std::string_view(call.schema().name) != "lazy_clone" || call.name == call.schema().function_name) return false;
  const Operator* const caller = find_operator(call.name);
  return !caller || !caller->schema().has_body;
}

// Returns whether autograd follows the calls in the body of a call, whose operator has no gradient of its own.
bool is_followed(const Call& call) {
  return (call.wanted_layers & call.body_layers & (uint32_t{1} << OF_LAYER_AUTOGRAD)) != 0;
}

// The function of the layer.
void enter(of_layer_call& state) {
  Call& call = state.call;
  Recording* const recording = recording_of(call);
  if (!recording || call.infer_only) return next_layer(state, OF_BODY_HIDDEN);
  if (!recording->is_of_this_thread())
    fail(OF_UNSUPPORTED, "values of a graph can be used only by the thread that captures it");
  const bool is_constant = recording->constant_calls() && !is_symbolic(call);
  if (is_constant) return is_read(call) ? next_layer(state, OF_BODY_HIDDEN) : recording->constant_calls()->run(state);
  if (is_read(call)) {
    const Tensor& read = call.tensor(0);
    const ValueId value = recording->value_of(read);
    if (!symbol_of(read) && !recording->written().contains(value)) return next_layer(state, OF_BODY_HIDDEN);
    fail(OF_UNSUPPORTED,
         "the tensor has no elements while a graph is captured: what depends on them cannot be part of the graph");
  }
  if (recording->expands(call.op) || is_followed(call)) return next_layer(state, OF_BODY_SEEN);
  recording->record(call);
}

void install() {
  require_layer(OF_LAYER_CAPTURE, [](void*, of_layer_call* state) { return guard([&] { enter(*state); }); });
}

}  // namespace

RecordedScope::RecordedScope(Ref<Recording> recording)
    : recording_(std::move(recording)), before_(current), asked_before_(thread_state.asked_layers) {
  install();
  pause(false);
}

void RecordedScope::pause(bool paused) {
  current = paused ? before_ : recording_;
  thread_state.asked_layers = paused ? asked_before_ : asked_before_ | kCaptureBit;
}

RecordedScope::~RecordedScope() {
  if (is_of_this_thread()) pause(true);
}

Recording* current_recording() { return current.get(); }

void set_current_recording(Recording* recording) {
  current = recording ? Ref<Recording>::share(recording) : Ref<Recording>();
  thread_state.asked_layers =
      recording ? thread_state.asked_layers | kCaptureBit : thread_state.asked_layers & ~kCaptureBit;
}

void ConstantCalls::run(of_layer_call& state) {
  Call& call = state.call;
  const size_t number = next_++;
  Done done{&call.op, {}, {}, {}};
  for (size_t i = 0; i < call.schema().arguments.size(); ++i) done.arguments.push_back(argument_of(call.arguments[i]));
  for_each_tensor(call, [&](int, int, const Tensor& tensor) { done.operands.push_back(share(tensor)); });
  const auto is_same = [](const TensorRef& a, const TensorRef& b) { return a.get() == b.get(); };
  if (number < done_.size() && done_[number].op == done.op && done_[number].arguments == done.arguments &&
      std::equal(done.operands.begin(), done.operands.end(), done_[number].operands.begin(),
                 done_[number].operands.end(), is_same)) {
    for (size_t i = 0; i < call.results.size(); ++i)
      call.results[i] = {OF_VALUE_TENSOR, 0, {.tensor = to_handle(TensorRef(done_[number].results[i]).detach())}};
    return;
  }
  const bool is_kept = !call.schema().gives_list && !call.writes_given && number == done_.size();
  next_layer(state, OF_BODY_HIDDEN);
  if (!is_kept) return;
  for (const of_value& result : call.results) done.results.push_back(share(*to_tensor(result.as.tensor)));
  done_.push_back(std::move(done));
}

bool Recording::expands(const Operator& op) const {
  return kept_ && std::string_view(op.schema().kind) == "composite" && !kept_->contains(&op);
}

void Recording::attach(const Tensor& tensor, ValueId value) {
  auto symbol = std::make_unique<Symbol>(Symbol{Ref<Recording>::share(this), value});
  tensor.extensions().add(OF_LAYER_CAPTURE, symbol.get(), [](void* data) { delete static_cast<Symbol*>(data); });
  symbol.release();
}

ValueId Recording::new_value(const Tensor& tensor) {
  const auto value = static_cast<ValueId>(values_.size());
  values_.push_back({tensor.dtype(), tensor.device(), tensor.sizes(), value});
  return value;
}

TensorRef Recording::add_value(of_dtype dtype, of_device device, Sizes sizes) {
  TensorRef tensor = Tensor::without_memory(sizes, dtype, device);
  attach(*tensor, new_value(*tensor));
  return tensor;
}

ValueId Recording::value_of(const Tensor& tensor) {
  if (const Symbol* symbol = symbol_of(tensor)) {
    if (symbol->recording.get() != this || !is_open_)
      fail(OF_INVALID_ARGUMENT, "a tensor stands for a value of another capture, or of one that has ended");
    return symbol->value;
  }
  if (!tensor.has_memory()) fail(OF_INVALID_ARGUMENT, "a tensor without elements cannot be part of a graph");
  const auto [found, is_new] = numbers_.try_emplace(&tensor, static_cast<ValueId>(values_.size()));
  if (is_new) {
    const ValueId value = new_value(tensor);
    constants_.emplace_back(value, share(tensor));
    // Tensors of the program that share memory are one state: what is written to one, others read.
    if (tensor.is_view()) {
      const ValueId root = value_of(*tensor.base());
      values_[static_cast<size_t>(value)].root = root;
    }
    return value;
  }
  return found->second;
}

Argument Recording::argument_of(const of_value& value) {
  Argument argument = graph::argument_of(value);
  if (value.kind == OF_VALUE_TENSOR) argument.values = {value_of(*to_tensor(value.as.tensor))};
  if (value.kind == OF_VALUE_TENSOR_LIST)
    for (const of_tensor item : std::span(value.as.tensors, static_cast<size_t>(value.count)))
      argument.values.push_back(item ? value_of(*to_tensor(item)) : kNoValue);
  return argument;
}

// Stores the tensor of the next result in `result`, and returns the number of its value. Takes ownership of `inferred`.
ValueId Recording::store_result(const Node& node, of_tensor inferred, of_tensor given, of_tensor& result) {
  const TensorRef found = TensorRef::adopt(to_tensor(inferred));
  if (given) {
    check_destination(*to_tensor(given), found->sizes(), found->dtype());
    const ValueId value = value_of(*to_tensor(given));
    mark_written(value);
    return value;
  }
  if (const Symbol* symbol = symbol_of(*found)) {  // the call has returned an operand as it is
    result = to_handle(TensorRef(found).detach());
    return symbol->value;
  }
  const ValueId value = new_value(*found);
  attach(*found, value);
  const auto root_of = [&](ValueId each) { return values_[static_cast<size_t>(each)].root; };
  values_.back().root = root_of_result(node, node.results.size(), value, root_of);
  result = to_handle(TensorRef(found).detach());
  return value;
}

void Recording::record(Call& call) {
  const Schema& schema = call.schema();
  if (call.box) fail(OF_UNSUPPORTED, "parts of results cannot be captured");
  const std::span<const of_value> arguments(call.arguments, schema.arguments.size());
  Node node{&call.op, {}, {}};
  for (const of_value& argument : arguments) node.arguments.push_back(argument_of(argument));

  const ForeseenWrites foreseen;
  OwnedResults inferred_results;
  of_value(&inferred)[kMaxResults] = inferred_results.values;
  call_inside(call.op, call.name, arguments, {inferred, call.results.size()}, true);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!schema.arguments[i].is_written) continue;
    for_each_tensor({&arguments[i], 1}, [&](int, int, const Tensor& operand) {
      if (schema.has_body && !foreseen.contains(operand)) return;
      mark_written(value_of(operand));
      node.writes = true;
    });
  }

  if (schema.gives_list) {
    of_value& given = call.results[0];
    node.gives_results = given.kind == OF_VALUE_TENSOR_LIST;
    if (node.gives_results && given.count != inferred[0].count)
      fail(OF_INVALID_ARGUMENT, "the list to write to must have %d tensors, got %d", inferred[0].count, given.count);
    for (int i = 0; i < inferred[0].count; ++i) {
      of_tensor& item = inferred[0].as.tensors[i];
      const of_tensor found = std::exchange(item, nullptr);
      node.results.push_back(store_result(node, found, node.gives_results ? given.as.tensors[i] : nullptr, item));
    }
    if (!node.gives_results) given = std::exchange(inferred[0], {});
  } else {
    for (size_t i = 0; i < call.results.size(); ++i) {
      of_value& given = call.results[i];
      node.gives_results |= given.kind == OF_VALUE_TENSOR;
      const bool is_given = given.kind == OF_VALUE_TENSOR;
      of_tensor stored = nullptr;
      const ValueId value = store_result(node, std::exchange(inferred[i].as.tensor, nullptr),
                                         is_given ? given.as.tensor : nullptr, stored);
      if (!is_given) given = {OF_VALUE_TENSOR, 0, {.tensor = stored}};
      node.results.push_back(value);
    }
  }
  node.writes |= node.gives_results;
  nodes_.push_back(std::move(node));
}

}  // namespace oneflow::graph
