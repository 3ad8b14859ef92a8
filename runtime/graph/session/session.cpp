#include "graph/session/session.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/characters.h"
#include "base/error.h"
#include "base/shared_mutexes.h"
#include "device/copy.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"

namespace oneflow::graph {

namespace {

SharedMutexes<LockLevel::kSessions> mutexes;

// Returns whether no layer wants to see the calls of a run.
bool enters_no_layer(std::span<const of_tensor> inputs, std::span<const of_value> outputs) {
  uint32_t carried = 0;
  for (const of_tensor input : inputs) carried |= input ? to_tensor(input)->carried_layers() : 0;
  for_each_given(outputs, [&](const Tensor& given) { carried |= given.carried_layers(); });
  return wanted_layers(carried) == 0;
}

}  // namespace

Session::Session(Ref<Graph> graph) : graph_(std::move(graph)), lifetimes_(graph_->program()) {}

void Session::bind_inputs(std::span<const of_tensor> inputs, Registers& registers) const {
  const Program& program = graph_->program();
  if (inputs.size() != program.inputs.size())
    fail(OF_INVALID_ARGUMENT, "the graph has %zu inputs, got %zu tensors", program.inputs.size(), inputs.size());
  registers.named_sizes.assign(program.sizes.size(), -1);
  const std::string note = program.note.empty() ? "" : "; " + program.note;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = program.inputs[i];
    const Value& value = program.values[index(input.value)];
    const auto name = [&] { return "input '" + printable(input.name) + "'"; };
    if (!inputs[i]) fail(OF_INVALID_ARGUMENT, "%s must not be NULL", name().c_str());
    const Tensor& tensor = *to_tensor(inputs[i]);
    if (tensor.dtype() != value.dtype)
      fail(OF_DTYPE_ERROR, "%s must be a %s tensor, got %s", name().c_str(), dtype_name(value.dtype),
           dtype_name(tensor.dtype()));
    if (!(tensor.device() == value.device))
      fail(OF_DEVICE_ERROR, "%s must be on %s, got one on %s", name().c_str(), device_name(value.device).c_str(),
           device_name(tensor.device()).c_str());
    if (tensor.sizes().size() != value.sizes.size())
      fail(OF_SHAPE_ERROR, "%s must have %zu dimensions, got shape %s", name().c_str(), value.sizes.size(),
           to_text(tensor.sizes()).c_str());
    for (int dim = 0; dim < tensor.rank(); ++dim) {
      const SizeExpression& size = value.sizes[static_cast<size_t>(dim)];
      const int64_t found = tensor.size(dim);
      if (size.is_constant()) {
        if (found != size.constant)
          fail(OF_SHAPE_ERROR, "dimension %d of %s must be %ld, got shape %s%s", dim, name().c_str(), size.constant,
               to_text(tensor.sizes()).c_str(), note.c_str());
        continue;
      }
      const auto number = static_cast<size_t>(size.terms[0].atoms[0].number);
      const NamedSize& named = program.sizes[number];
      int64_t& known = registers.named_sizes[number];
      if (known >= 0 && known != found)
        fail(OF_SHAPE_ERROR, "dimension %d of %s must be %ld, as '%s' is elsewhere, got %ld", dim, name().c_str(),
             known, named.name.c_str(), found);
      if (!named.allows(found))
        fail(OF_SHAPE_ERROR, "'%s' must be %s, got %ld in dimension %d of %s%s", printable(named.name).c_str(),
             named.words().c_str(), found, dim, name().c_str(), note.c_str());
      known = found;
    }
    registers.tensors[index(input.value)] = share(tensor);
  }
}

void Session::run_step(size_t number, Workspace& workspace, of_generator generator) const {
  const Node& node = graph_->program().nodes[number];
  Registers& registers = workspace.registers;
  const Lifetimes::Step& step = lifetimes_.steps[number];
  workspace.bound.bind(node, registers, generator);
  const Tensor* donated = step.donated == kNoValue ? nullptr : registers.tensors[index(step.donated)].get();
  BoundResults results(node, registers);
  call_inside(*node.op, nullptr, workspace.bound.arguments(), results.values(), false, donated);
  results.store(registers);
  for (const ValueId value : step.released) registers.tensors[index(value)] = {};
}

void Session::store_outputs(std::span<of_value> outputs, const Registers& registers) const {
  static constinit const OperatorName copy("copy"), lazy_clone("lazy_clone");
  const Program& program = graph_->program();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].kind != OF_VALUE_TENSOR) continue;
    const of_value found = to_value(registers.tensors[index(program.outputs[i].value)]);
    const Tensor& given = *to_tensor(outputs[i].as.tensor);
    check_destination(given, to_tensor(found.as.tensor)->sizes(), to_tensor(found.as.tensor)->dtype());
    const of_value arguments[] = {outputs[i], found};
    call_inside(*copy, nullptr, arguments, {&outputs[i], 1}, false);
  }
  std::vector<TensorRef> results(outputs.size());  // the caller gets all or none
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].kind == OF_VALUE_TENSOR) continue;
    results[i] = registers.tensors[index(program.outputs[i].value)];
    if (program.outputs[i].shares_constant) results[i] = call_operator(lazy_clone, *results[i]);  // copied on write
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (results[i]) outputs[i] = {OF_VALUE_TENSOR, 0, {.tensor = to_handle(results[i].detach())}};
}

void Session::run(std::span<const of_tensor> inputs, std::span<of_value> outputs, of_generator generator) const {
  const Program& program = graph_->program();
  if (outputs.size() != program.outputs.size())
    fail(OF_INVALID_ARGUMENT, "the graph has %zu outputs, got room for %zu", program.outputs.size(), outputs.size());
  for (const of_value& output : outputs)
    if (output.kind != OF_VALUE_ABSENT && (output.kind != OF_VALUE_TENSOR || !output.as.tensor))
      fail(OF_INVALID_ARGUMENT, "an output must be a tensor to write to, or absent");
  const bool is_repeatable = is_repeatable_.load(std::memory_order_relaxed) && enters_no_layer(inputs, outputs);
  Ref<Planned> planned;
  if (is_repeatable && inputs.size() == program.inputs.size()) {
    planned = find_plan(inputs);
    if (planned && is_within_limit(*planned->plan)) {
      std::unique_ptr<PlanMemory> memory = take_memory(*planned);
      memory->run(inputs, outputs);
      return return_memory(*planned, std::move(memory));
    }
  }
  run_calls(inputs, outputs, generator, is_repeatable && !planned);
}

void Session::run_calls(std::span<const of_tensor> inputs, std::span<of_value> outputs, of_generator generator,
                        bool is_traced) const {
  const Program& program = graph_->program();
  std::unique_ptr<Workspace> workspace = take_workspace();
  Registers& registers = workspace->registers;
  bind_inputs(inputs, registers);
  const uint64_t limit = memory_limit_.load(std::memory_order_relaxed);
  std::optional<Trace> trace;
  if (is_traced || limit > 0) trace.emplace(program, inputs, limit);
  is_traced &= trace && trace->is_complete();  // inputs that overlap make no run to repeat
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    try {
      if (trace) trace->begin_call(i);
      run_step(i, *workspace, generator);
    } catch (const Error& error) {
      fail_in_call(error, program, i);
    }
  }
  if (trace) trace->stop();
  if (is_traced) {
    std::vector<TracedOutput> found;
    for (const Output& output : program.outputs)
      if (std::optional<TracedOutput> place = trace->find_output(*registers.tensors[index(output.value)]))
        found.push_back(std::move(*place));
    if (!trace->is_complete() || found.size() < program.outputs.size())
      is_repeatable_.store(false, std::memory_order_relaxed);
    else
      add_plan(Plan::create(*trace, inputs, std::move(found), program));
  }
  store_outputs(outputs, registers);
  for (const ValueId value : lifetimes_.released_last) registers.tensors[index(value)] = {};
  return_workspace(std::move(workspace));
}

bool Session::is_within_limit(const Plan& plan) const {
  const uint64_t limit = memory_limit_.load(std::memory_order_relaxed);
  return limit == 0 || plan.arena_bytes() + plan.output_bytes() <= limit;
}

Ref<Session::Planned> Session::find_plan(std::span<const of_tensor> inputs) const {
  const Plans plans = [&] {
    const std::lock_guard lock(mutexes.of(this));
    return plans_;
  }();
  const auto found = std::ranges::find_if(
      plans, [&](const Ref<Planned>& planned) { return planned && planned->plan->matches(inputs); });
  return found == plans.end() ? Ref<Planned>() : *found;
}

std::unique_ptr<PlanMemory> Session::take_memory(Planned& planned) const {
  {
    const std::lock_guard lock(mutexes.of(this));
    const auto found = std::ranges::find_if(plans_, [&](const Ref<Planned>& each) { return each.get() == &planned; });
    if (found != plans_.end()) std::rotate(plans_.begin(), found, std::next(found));
    if (!planned.memories.empty()) {
      std::unique_ptr<PlanMemory> memory = std::move(planned.memories.back());
      planned.memories.pop_back();
      return memory;
    }
  }
  return std::make_unique<PlanMemory>(planned.plan);
}

void Session::return_memory(Planned& planned, std::unique_ptr<PlanMemory> memory) const noexcept {
  try {
    const std::lock_guard lock(mutexes.of(this));
    planned.memories.push_back(std::move(memory));
  } catch (const std::bad_alloc&) {  // the run has succeeded without the memory of the next one
  }
}

void Session::warm_up(std::span<const int64_t> sizes) const {
  const Program& program = graph_->program();
  if (!sizes.empty() && sizes.size() != program.sizes.size())
    fail(OF_INVALID_ARGUMENT, "the graph has %zu named sizes, got %zu", program.sizes.size(), sizes.size());
  std::vector<TensorRef> inputs;
  std::vector<of_tensor> handles;
  for (const Input& input : program.inputs) {
    const Value& value = program.values[index(input.value)];
    Shape shape;
    for (const SizeExpression& size : value.sizes)
      shape.push_back(evaluate(size, [&](const Atom& atom) {
        const auto number = static_cast<size_t>(atom.number);
        return sizes.empty() ? program.sizes[number].example : sizes[number];
      }));
    const Tensor& tensor = *inputs.emplace_back(Tensor::allocate(shape, value.dtype, value.device));
    fill_bytes(value.device, tensor.mutable_data(), 0, static_cast<uint64_t>(tensor.bytes()));
    handles.push_back(to_handle(inputs.back().get()));
  }
  // The first run makes the plan, the second one takes its memory.
  for (int run = 0; run < 2; ++run) {
    std::vector<of_value> outputs(program.outputs.size());
    this->run(handles, outputs, nullptr);
    for (of_value& output : outputs) release_value(output);
  }
}

of_session_info Session::info() const {
  of_session_info info{};
  info.memory_limit = memory_limit_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutexes.of(this));
  info.plan_count = static_cast<uint32_t>(std::ranges::count_if(plans_, &Ref<Planned>::operator bool));
  info.memory = plans_[0] ? plans_[0]->plan->arena_bytes() : 0;
  return info;
}

void Session::add_plan(Ref<Plan> plan) const {
  auto added = Ref<Planned>::adopt(new Planned(std::move(plan)));
  const std::lock_guard lock(mutexes.of(this));
  for (const Ref<Planned>& each : plans_)
    if (each && each->plan->has_layouts_of(*added->plan)) return;  // another thread was faster
  std::rotate(plans_.begin(), std::prev(plans_.end()), plans_.end());
  std::swap(plans_[0], added);  // what was used longest ago is released without the lock
}

std::unique_ptr<Session::Workspace> Session::take_workspace() const {
  {
    const std::lock_guard lock(mutexes.of(this));
    if (!workspaces_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(workspaces_.back());
      workspaces_.pop_back();
      return workspace;
    }
  }
  auto workspace = std::make_unique<Workspace>();
  const Program& program = graph_->program();
  workspace->registers.tensors.resize(program.values.size());
  for (const Constant& constant : program.constants)
    workspace->registers.tensors[index(constant.value)] = constant.tensor;
  return workspace;
}

void Session::return_workspace(std::unique_ptr<Workspace> workspace) const noexcept {
  try {
    const std::lock_guard lock(mutexes.of(this));
    workspaces_.push_back(std::move(workspace));
  } catch (const std::bad_alloc&) {  // as above
  }
}

}  // namespace oneflow::graph
