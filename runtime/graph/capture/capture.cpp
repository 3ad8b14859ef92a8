#include "graph/capture/capture.h"

#include <set>
#include <utility>

#include "base/characters.h"
#include "base/error.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"
#include "graph/capture/merge.h"
#include "graph/capture/samples.h"
#include "graph/program/dead_code.h"
#include "graph/program/names.h"

namespace oneflow::graph {

namespace {

// Returns a tensor with the elements of another one at this time, and without what layers keep with it.
TensorRef snapshot(const Tensor& tensor) {
  static constinit const OperatorName lazy_clone("lazy_clone");
  const OpenLayers none(0);
  return call_operator(lazy_clone, tensor);
}

// Makes copies of the constants to which the program writes, before its first call, and returns them as outputs.
void add_states(Program& program, const std::set<ValueId>& written) {
  static constinit const OperatorName clone("clone");
  std::vector<Node> copies;
  UniqueNames names;
  for (const Output& output : program.outputs) names.take(output.name);
  const auto add_state = [&](ValueId& value, const std::string& name) {
    if (!written.contains(value)) return;
    const auto original = static_cast<ValueId>(program.values.size());
    Value copy = program.values[static_cast<size_t>(value)];
    program.values.push_back(std::move(copy));
    Node node{&*clone, std::vector<Argument>((*clone).schema().arguments.size()), {value}};
    for (Argument& argument : node.arguments) argument.kind = OF_VALUE_NONE;
    node.arguments[0].kind = OF_VALUE_TENSOR;
    node.arguments[0].values = {original};
    copies.push_back(std::move(node));
    program.outputs.push_back({names.take(name), value});
    value = original;
  };
  for (Input& input : program.inputs) add_state(input.value, input.name);
  for (Constant& constant : program.constants) add_state(constant.value, constant.name);
  program.nodes.insert(program.nodes.begin(), copies.begin(), copies.end());
}

}  // namespace

uint64_t AllocationLimit::restart(uint64_t limit) {
  const bool observed = limit_ != UINT64_MAX, observes = limit != UINT64_MAX;
  if (observes && !observed) {
    note_other_work();
    outer_ = std::exchange(work_observer, this);
  }
  if (observed && !observes) work_observer = outer_;
  limit_ = limit;
  return std::exchange(allocated_, 0);
}

void AllocationLimit::see_allocation(of_device, const void*, uint64_t bytes) {
  allocated_ += bytes;
  if (allocated_ > limit_)
    fail(OF_OUT_OF_MEMORY, "what is computed while a graph is captured needs more than %lu bytes", limit_);
}

Capture::Capture(std::vector<ExampleInput> inputs, std::string input_structure, std::vector<NamedSize> sizes, Kept kept,
                 std::string note)
    : inputs_(std::move(inputs)),
      input_structure_(std::move(input_structure)),
      sizes_(std::move(sizes)),
      kept_(std::move(kept)),
      note_(std::move(note)) {
  for (const ExampleInput& input : inputs_) {
    for (size_t dim = 0; dim < input.named_sizes.size(); ++dim) {
      const int number = input.named_sizes[dim];
      if (number < 0) continue;
      const NamedSize& size = sizes_[static_cast<size_t>(number)];
      const int64_t found = input.example->size(static_cast<int>(dim));
      if (found != size.example)
        fail(OF_INVALID_ARGUMENT, "the size '%s' is %ld in one dimension, and %ld in dimension %zu of '%s'",
             printable(size.name).c_str(), size.example, found, dim, printable(input.name).c_str());
    }
  }
  for (const NamedSize& size : sizes_) check_example(size);
  runs_ = sample_sizes(sizes_);
}

Capture::~Capture() { cancel(); }

void Capture::name(const Tensor& constant, std::string name) {
  names_.try_emplace(&constant, std::move(name), share(constant));
}

std::optional<std::vector<TensorRef>> Capture::begin() {
  if (scope_) fail(OF_INVALID_ARGUMENT, "the last run has not ended");
  if (outputs_.size() == runs_.size()) return {};
  const std::vector<int64_t>& sizes = runs_[outputs_.size()];
  recordings_.resize(outputs_.size());
  const Ref<Recording>& recording = recordings_.emplace_back(Recording::create(nullptr, kept_));
  std::vector<TensorRef> tensors;
  for (const ExampleInput& input : inputs_) {
    Shape shape = input.example->sizes();
    for (size_t dim = 0; dim < input.named_sizes.size(); ++dim)
      if (input.named_sizes[dim] >= 0)
        shape[static_cast<int>(dim)] = sizes[static_cast<size_t>(input.named_sizes[dim])];
    tensors.push_back(recording->add_value(input.example->dtype(), input.example->device(), shape));
  }
  scope_.emplace(recording);
  return tensors;
}

void Capture::end(std::vector<std::string> names, const std::vector<TensorRef>& outputs, std::string structure) {
  running_scope();
  RecordedOutputs recorded{std::move(names), {}, std::move(structure)};
  for (const TensorRef& output : outputs) recorded.values.push_back(recordings_.back()->value_of(*output));
  cancel();
  outputs_.push_back(std::move(recorded));
}

RecordedScope& Capture::running_scope() {
  if (!scope_) fail(OF_INVALID_ARGUMENT, "no run has begun");
  if (!scope_->is_of_this_thread()) fail(OF_INVALID_ARGUMENT, "a run must stay on the thread on which it has begun");
  return *scope_;
}

void Capture::pause(bool paused) { running_scope().pause(paused); }

uint64_t Capture::limit(uint64_t bytes) {
  running_scope();
  return allocation_limit_.restart(bytes);
}

void Capture::cancel() {
  if (scope_ && scope_->is_of_this_thread()) allocation_limit_.restart(UINT64_MAX);
  scope_.reset();
  if (!recordings_.empty()) recordings_.back()->end();
}

Program Capture::finish() {
  if (outputs_.size() != runs_.size()) fail(OF_INVALID_ARGUMENT, "the program must run once more");
  Program program = merge({sizes_, runs_, recordings_, outputs_});
  program.sizes = sizes_;
  program.input_structure = input_structure_;
  program.note = note_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const ExampleInput& input = inputs_[i];
    program.inputs.push_back({input.name, static_cast<ValueId>(i)});
    std::vector<SizeExpression>& sizes = program.values[i].sizes;
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      const int number = input.named_sizes.empty() ? -1 : input.named_sizes[dim];
      sizes[dim] = number < 0 ? SizeExpression{input.example->size(static_cast<int>(dim)), {}, 1}
                              : SizeExpression{0, {{1, {{kNoValue, number}}}}, 1};
    }
  }
  UniqueNames names;
  for (const auto& [value, tensor] : recordings_[0]->constants()) {
    const ValueId root = recordings_[0]->values()[static_cast<size_t>(value)].root;
    if (root != value && recordings_[0]->written().contains(root))
      fail(OF_UNSUPPORTED,
           "the program writes to a tensor that shares memory with another one; clone one of them first");
    const auto named = names_.find(tensor.get());
    const std::string name = named != names_.end() ? named->second.first : "constant";
    program.constants.push_back({names.take(name), value, snapshot(*tensor)});
  }
  add_states(program, recordings_[0]->written());
  remove_dead_code(program);
  return program;
}

}  // namespace oneflow::graph
