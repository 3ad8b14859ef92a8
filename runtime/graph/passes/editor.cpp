#include "graph/passes/editor.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "base/dtype.h"
#include "base/error.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"
#include "graph/capture/merge.h"
#include "graph/capture/samples.h"
#include "graph/program/dead_code.h"
#include "graph/program/names.h"
#include "tensor/transfer.h"

namespace oneflow::graph {

namespace {

// Returns whether a failure says that a value cannot be computed, rather than that something is lacking.
template <class Change>
void change_atoms(std::vector<SizeExpression>& sizes, Change&& change) {
  for (SizeExpression& size : sizes)
    for (Term& term : size.terms)
      for (Atom& atom : term.atoms) change(atom);
}

}  // namespace

// What was built of bindings, as a program whose first values are `inputs`, and its values in each run.
struct Editor::Splice {
  Program part;
  std::vector<ValueId> inputs;  // the values of the program that the first ones of the part stand for
  std::vector<std::pair<ValueId, TensorRef>> constants;
  std::vector<Ref<Recording>> recordings;
};

Editor::Editor(Program program) : program_(std::move(program)) {
  run_inference();
  find_facts();
}

Program Editor::finished() const {
  Program program = program_;
  program.nodes.clear();
  append_calls(program.nodes);
  remove_dead_code(program);
  // A constant that has replaced another one of the same name keeps the name.
  UniqueNames names;
  for (Constant& constant : program.constants) constant.name = names.take(constant.name);
  return program;
}

void Editor::run_inference() {
  for (std::vector<int64_t>& sizes : sample_sizes(program_.sizes)) {
    Registers registers;
    registers.named_sizes = std::move(sizes);
    registers.tensors.resize(program_.values.size());
    for (const Input& input : program_.inputs) {
      const Value& value = program_.values[index(input.value)];
      Shape shape;
      for (const SizeExpression& size : value.sizes) shape.push_back(registers.value_of(size));
      registers.tensors[index(input.value)] = Tensor::without_memory(shape, value.dtype, value.device);
    }
    for (const Constant& constant : program_.constants)
      registers.tensors[index(constant.value)] = Tensor::without_memory(*constant.tensor);
    BoundCall bound;
    for (Node& node : program_.nodes) {
      std::vector<TensorRef> found = infer(node, bound, registers);
      for (size_t i = 0; i < found.size(); ++i)
        if (TensorRef& tensor = registers.tensors[index(node.results[i])]; !tensor) tensor = std::move(found[i]);
    }
    runs_.push_back(std::move(registers));
  }
}

const TensorRef& Editor::constant(ValueId value) const {
  static const TensorRef none;
  const int position = facts_[index(value)].constant;
  return position < 0 ? none : program_.constants[index(position)].tensor;
}

void Editor::find_facts() {
  facts_.assign(program_.values.size(), {});
  constants_.clear();
  for (size_t i = 0; i < facts_.size(); ++i) {
    facts_[i].root = static_cast<ValueId>(i);
    for_each_sized(program_.values[i].sizes,
                   [&](ValueId value) { facts_[index(value)].sized.push_back(static_cast<ValueId>(i)); });
  }
  for (const Input& input : program_.inputs) facts_[index(input.value)].is_shared = true;
  for (size_t i = 0; i < program_.constants.size(); ++i) {
    const Constant& constant = program_.constants[i];
    facts_[index(constant.value)].constant = static_cast<int>(i);
    constants_.try_emplace(constant.tensor.get(), constant.value);
  }
  call_count_ = static_cast<int64_t>(program_.nodes.size());
  next_.resize(program_.nodes.size() + 1);
  previous_.resize(program_.nodes.size() + 1);
  for (int call = 0; call < static_cast<int>(program_.nodes.size()); ++call) {
    next_[link(call - 1)] = call;
    previous_[link(call)] = call - 1;
    define_results(call);
    count(call, 1);
  }
  next_.back() = -1;
  previous_[kEnds] = static_cast<int>(program_.nodes.size()) - 1;
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    Fact& fact = facts_[index(program_.outputs[i].value)];
    ++fact.uses;
    fact.outputs.push_back(i);
    ++facts_[index(fact.root)].memory_outputs;
  }
}

// ---------------------------------------------------------------- the calls and what follows from them

void Editor::count(int call, int change) {
  const Node& node = program_.nodes[index(call)];
  for_each_needed(node, [&](ValueId value) {
    Fact& fact = facts_[index(value)];
    fact.uses += change;
    if (change > 0 && (fact.users.empty() || fact.users.back() != call)) fact.users.push_back(call);
  });
  for_each_written(node, [&](ValueId value) {
    facts_[index(value)].writes += change;
    facts_[index(root_of(value))].memory_writes += change;
  });
}

void Editor::define_results(int call) {
  const Node& node = program_.nodes[index(call)];
  for (size_t i = 0; i < node.results.size(); ++i) {
    const ValueId result = node.results[i];
    if (facts_[index(result)].is_defined()) continue;
    facts_[index(result)].definition = call;
    set_root(result, root_of_result(node, i, result, [&](ValueId value) { return root_of(value); }));
  }
}

void Editor::undefine_results(int call) {
  for (const ValueId result : program_.nodes[index(call)].results)
    if (definition(result) == call) facts_[index(result)].definition = -1;
}

std::vector<ValueId> Editor::aliases(int call, ValueId operand) const {
  std::vector<ValueId> found;
  const Node& node = program_.nodes[index(call)];
  for (size_t i = 0; i < node.results.size(); ++i)
    if (aliased_operand(node, i) == operand && definition(node.results[i]) == call) found.push_back(node.results[i]);
  return found;
}

void Editor::set_root(ValueId value, ValueId root) {
  std::vector<ValueId> waiting{value};
  while (!waiting.empty()) {
    const ValueId each = waiting.back();
    waiting.pop_back();
    Fact& fact = facts_[index(each)];
    if (fact.root == root) continue;
    for (const auto& [from, sign] : {std::pair(fact.root, -1), std::pair(root, 1)}) {
      facts_[index(from)].memory_writes += sign * fact.writes;
      facts_[index(from)].memory_outputs += sign * static_cast<int>(fact.outputs.size());
    }
    fact.root = root;
    for (const int user : fact.users)
      for (const ValueId result : aliases(user, each)) waiting.push_back(result);
  }
}

int Editor::insert(Node node, int before) {
  const int call = static_cast<int>(program_.nodes.size()), after = previous_[link(before)];
  program_.nodes.push_back(std::move(node));
  next_.push_back(before);
  previous_.push_back(after);
  next_[link(after)] = previous_[link(before)] = call;
  ++call_count_;
  return call;
}

void Editor::remove(int call) {
  next_[link(previous_[link(call)])] = next_[link(call)];
  previous_[link(next_[link(call)])] = previous_[link(call)];
  program_.nodes[index(call)] = {};
  --call_count_;
}

// ---------------------------------------------------------------- new calls

std::optional<Editor::Splice> Editor::record(std::span<const Argument> bindings, const Build& build) {
  Splice splice;
  for (const Argument& binding : bindings)
    for (const ValueId value : binding.values)
      if (value != kNoValue && !constant(value) &&
          std::find(splice.inputs.begin(), splice.inputs.end(), value) == splice.inputs.end())
        splice.inputs.push_back(value);
  std::vector<RecordedOutputs> outputs;
  std::vector<std::vector<int64_t>> samples;
  ConstantCalls constants;
  BoundCall bound;
  try {
    for (Registers& run : runs_) {
      const Ref<Recording> recording = Recording::create(&constants);
      constants.start_run();
      // In this run, tensors that the recording knows stand for the values.
      std::vector<std::pair<ValueId, TensorRef>> before;
      const auto stand_in = [&](ValueId value, TensorRef tensor) {
        before.emplace_back(value, std::exchange(run.tensors[index(value)], std::move(tensor)));
      };
      for (const ValueId value : splice.inputs) {
        const Tensor& form = *run.tensors[index(value)];
        stand_in(value, recording->add_value(form.dtype(), form.device(), form.sizes()));
      }
      for (const Argument& binding : bindings)
        for (const ValueId value : binding.values)
          if (value != kNoValue && constant(value) && run.tensors[index(value)].get() != constant(value).get())
            stand_in(value, constant(value));
      bound.bind(bindings, run);
      for (auto& [value, tensor] : before) std::swap(run.tensors[index(value)], tensor);
      RecordedOutputs recorded;
      {
        const RecordedScope scope(recording);
        for (const TensorRef& tensor : build(bound.arguments())) {
          recorded.names.push_back(std::to_string(recorded.names.size()));
          recorded.values.push_back(recording->value_of(*tensor));
        }
      }
      recording->end();
      outputs.push_back(std::move(recorded));
      samples.push_back(run.named_sizes);
      splice.recordings.push_back(recording);
    }
    splice.part = merge({program_.sizes, samples, splice.recordings, outputs});
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return {};
  }
  splice.constants = splice.recordings[0]->constants();
  return splice;
}

// Returns whether the result of a part has the dtype, the device and in all runs the shape of a value.
bool Editor::has_form(ValueId value, const Splice& splice, ValueId result) const {
  for (size_t run = 0; run < runs_.size(); ++run) {
    const Tensor& form = *runs_[run].tensors[index(value)];
    const RecordedValue& found = splice.recordings[run]->values()[index(result)];
    if (form.dtype() != found.dtype || !(form.device() == found.device) || !(form.sizes() == Sizes(found.sizes)))
      return false;
  }
  return true;
}

// Returns whether a value may get the memory of another one: not if both may be written to outside of the graph.
bool Editor::may_share(ValueId old, ValueId by) const {
  const Fact& root = facts_[index(root_of(by))];
  if (root_of(old) == root_of(by)) return true;
  return facts_[index(root_of(old))].memory_outputs == 0 || !(root.memory_outputs > 0 || root.is_shared);
}

// Returns whether the constants that were computed have no infinity and no NaN.
bool Editor::has_finite_constants(const Splice& splice) const {
  static constinit const OperatorName isfinite("isfinite"), all("all");
  const OpenLayers own(kOwnLayers);
  return std::ranges::all_of(splice.constants, [&](const auto& constant) {
    const Tensor& tensor = *constant.second;
    return constants_.contains(&tensor) || !is_floating(tensor.dtype()) ||
           to_double(item(*call_operator(all, call_operator(isfinite, tensor)))) != 0;
  });
}

bool Editor::replace(int call, std::span<const Argument> bindings, std::span<const int> matched, const Build& build,
                     bool only_finite) {
  const std::vector<ValueId> results = node(call).results;
  std::optional<Splice> splice = record(bindings, build);
  if (!splice || splice->part.outputs.size() != results.size()) return false;
  Program& part = splice->part;
  for (size_t i = 0; i < results.size(); ++i)
    if (!has_form(results[i], *splice, part.outputs[i].value)) return false;
  for (const Node& node : part.nodes)
    if (node.writes || has_effects(*node.op)) return false;
  if (only_finite && !has_finite_constants(*splice)) return false;

  // The numbers of the part's values in the program. Those that a call computes as results of the part take the numbers
  // of the old results.
  std::vector<ValueId> numbers(part.values.size(), kNoValue);
  std::set<ValueId> computed;
  for (const Node& node : part.nodes) computed.insert(node.results.begin(), node.results.end());
  for (size_t i = 0; i < splice->inputs.size(); ++i) numbers[i] = splice->inputs[i];
  for (size_t i = 0; i < splice->inputs.size(); ++i) computed.erase(static_cast<ValueId>(i));
  for (const auto& [value, tensor] : splice->constants) computed.erase(value);
  std::vector<std::pair<ValueId, ValueId>> substituted;  // results that are values of the part which exist already
  for (size_t i = 0; i < results.size(); ++i) {
    ValueId& number = numbers[index(part.outputs[i].value)];
    if (computed.contains(part.outputs[i].value) && number == kNoValue)
      number = results[i];
    else
      substituted.emplace_back(results[i], part.outputs[i].value);
  }
  // Memory that the new values share.
  std::map<ValueId, ValueId> roots;  // of the part; other values are their own
  const auto root_in_part = [&](ValueId value) { return roots.contains(value) ? roots[value] : value; };
  for (const Node& node : part.nodes)
    for (size_t i = 0; i < node.results.size(); ++i)
      roots.try_emplace(node.results[i], root_of_result(node, i, node.results[i], root_in_part));
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId root = root_in_part(part.outputs[i].value);
    const ValueId shared = index(root) < splice->inputs.size() ? numbers[index(root)] : kNoValue;
    if (shared != kNoValue && !may_share(results[i], shared)) return false;
  }

  // From here on the program changes.
  for (const auto& [value, tensor] : splice->constants) {
    const auto known = constants_.find(tensor.get());
    numbers[index(value)] =
        known != constants_.end() ? known->second : add_constant(tensor, name_for(*tensor, bindings));
  }
  const auto renumber = [&](ValueId& value) {
    if (value != kNoValue) value = numbers[index(value)];
  };
  for (size_t i = 0; i < part.values.size(); ++i) {
    if (numbers[i] != kNoValue) continue;
    change_atoms(part.values[i].sizes, [&](Atom& atom) { renumber(atom.value); });
    numbers[i] = add_value(std::move(part.values[i]));
    for (size_t run = 0; run < runs_.size(); ++run) {
      const RecordedValue& form = splice->recordings[run]->values()[i];
      runs_[run].tensors.push_back(Tensor::without_memory(form.sizes, form.dtype, form.device));
    }
  }
  for (Node& node : part.nodes) {
    std::for_each(node.results.begin(), node.results.end(), renumber);
    for (Argument& argument : node.arguments) {
      std::for_each(argument.values.begin(), argument.values.end(), renumber);
      change_atoms(argument.sizes, [&](Atom& atom) { renumber(atom.value); });
    }
  }
  undefine_results(call);
  for (Node& node : part.nodes) {
    const int added = insert(std::move(node), call);
    define_results(added);
    count(added, 1);
  }
  for (const auto& [old, by] : substituted) substitute(old, numbers[index(by)]);
  // The call goes, and those of `matched` whose results are not needed by others.
  std::vector<int> unused(matched.begin(), matched.end());
  unused.push_back(call);
  for (const int each : std::views::reverse(unused)) {
    const Node removed = node(each);
    const auto is_needed = [&](ValueId value) { return use_count(value) > 0 && definition(value) == each; };
    if (!removed.op || removed.writes || std::any_of(removed.results.begin(), removed.results.end(), is_needed))
      continue;
    count(each, -1);
    undefine_results(each);
    remove(each);
    for_each_operand(removed, [&](ValueId value) { drop_unused_constant(value); });
  }
  return true;
}

// Returns the name of a constant that a rule has made of others: that of one with the same shape.
std::string Editor::name_for(const Tensor& tensor, std::span<const Argument> bindings) const {
  for (const Argument& binding : bindings)
    for (const ValueId value : binding.values)
      if (value != kNoValue && constant(value) && constant(value)->sizes() == tensor.sizes())
        return program_.constants[index(facts_[index(value)].constant)].name;
  return "constant";
}

bool Editor::replace_value(ValueId old, ValueId by) {
  if (!may_share(old, by)) return false;
  substitute(old, by);
  return true;
}

// No call writes to the memory of the values.
void Editor::substitute(ValueId old, ValueId by) {
  Fact &from = facts_[index(old)], &to = facts_[index(by)];
  int changes = 0;
  const auto change = [&](ValueId& value) {
    if (value != old) return;
    value = by;
    ++changes;
  };
  const std::vector<int> users = std::exchange(from.users, {});
  for (const int user : users) {
    Node& node = program_.nodes[index(user)];
    const int before = changes;
    for (Argument& argument : node.arguments) {
      std::for_each(argument.values.begin(), argument.values.end(), change);
      change_atoms(argument.sizes, [&](Atom& atom) { change(atom.value); });
    }
    if (changes == before) continue;  // it has needed the value before
    to.users.push_back(user);
    for (const ValueId result : aliases(user, by)) set_root(result, to.root);
  }
  const auto outputs = static_cast<int>(from.outputs.size());
  for (const size_t output : from.outputs) change(program_.outputs[output].value);
  from.uses -= changes;
  to.uses += changes;
  facts_[index(from.root)].memory_outputs -= outputs;
  facts_[index(to.root)].memory_outputs += outputs;
  to.outputs.insert(to.outputs.end(), from.outputs.begin(), from.outputs.end());
  from.outputs.clear();
  std::vector<ValueId> own;  // sizes that follow from nothing else
  for (const ValueId value : from.sized) {
    if (value != old) change_atoms(program_.values[index(value)].sizes, [&](Atom& atom) { change(atom.value); });
    (value == old ? own : to.sized).push_back(value);
  }
  from.sized = std::move(own);
}

ValueId Editor::add_value(Value value) {
  const auto number = static_cast<ValueId>(program_.values.size());
  program_.values.push_back(std::move(value));
  facts_.emplace_back().root = number;
  for_each_sized(program_.values.back().sizes, [&](ValueId of) { facts_[index(of)].sized.push_back(number); });
  return number;
}

ValueId Editor::add_constant(TensorRef tensor, const std::string& name) {
  Value value{tensor->dtype(), tensor->device(), {}};
  for (const int64_t size : tensor->sizes()) value.sizes.push_back({size, {}, 1});
  const ValueId number = add_value(std::move(value));
  for (Registers& run : runs_) run.tensors.push_back(Tensor::without_memory(*tensor));
  facts_.back().constant = static_cast<int>(program_.constants.size());
  constants_.try_emplace(tensor.get(), number);
  program_.constants.push_back({name, number, std::move(tensor)});
  return number;
}

// Frees the memory of a constant that was replaced.
void Editor::drop_unused_constant(ValueId value) {
  if (!constant(value) || use_count(value) > 0) return;
  Constant& dropped = program_.constants[index(facts_[index(value)].constant)];
  if (const auto known = constants_.find(dropped.tensor.get()); known != constants_.end() && known->second == value)
    constants_.erase(known);
  dropped.tensor = {};
}

void Editor::make_constant(ValueId value, TensorRef tensor) {
  substitute(value, add_constant(std::move(tensor), "constant"));
}

int64_t Editor::narrow_constants(of_dtype dtype) {
  static constinit const OperatorName cast("cast");
  constexpr int64_t kLarge = 1024;  // the fewest elements for which it pays
  std::vector<Node> casts;
  for (size_t i = 0; i < program_.constants.size(); ++i) {
    const Constant constant = program_.constants[i];
    if (!constant.tensor) continue;
    const of_dtype wide = constant.tensor->dtype();
    if (!is_floating(wide) || dtype_size(wide) <= dtype_size(dtype) || constant.tensor->count() < kLarge) continue;
    const ValueId narrow = add_constant(call_operator(cast, *constant.tensor, dtype), constant.name);
    program_.constants[i] = std::move(program_.constants.back());
    program_.constants.pop_back();
    Node node{&*cast, std::vector<Argument>(2), {constant.value}};
    node.arguments[0].kind = OF_VALUE_TENSOR;
    node.arguments[0].values = {narrow};
    node.arguments[1].kind = OF_VALUE_DTYPE;
    node.arguments[1].dtype = wide;
    casts.push_back(std::move(node));
  }
  const auto count = static_cast<int64_t>(casts.size());
  append_calls(casts);
  program_.nodes = std::move(casts);
  find_facts();
  return count;
}

void Editor::remove_unused() {
  std::vector<Node> calls;
  append_calls(calls);
  program_.nodes = std::move(calls);
  remove_unused_calls(program_);
  find_facts();
}

void Editor::append_calls(std::vector<Node>& calls) const {
  for (int call = first(); call >= 0; call = next(call)) calls.push_back(node(call));
}

}  // namespace oneflow::graph
