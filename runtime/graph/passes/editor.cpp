#include "graph/passes/editor.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/dtype.h"
#include "base/error.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "graph/dead_code.h"
#include "graph/free_names.h"
#include "graph/merge.h"
#include "graph/samples.h"

namespace oneflow::graph {

namespace {

// Returns whether a failure says that a value cannot be computed, rather than that something is lacking.
bool is_refusal(const Error& error) {
  return error.status() != OF_OUT_OF_MEMORY && error.status() != OF_INTERNAL_ERROR;
}

ValueId first_operand(const Node& node) {
  ValueId first = kNoValue;
  for_each_operand(node, [&](ValueId value) { first = first == kNoValue ? value : first; });
  return first;
}

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
  remove_dead_code(program);
  // A constant that has replaced another one of the same name keeps the name.
  FreeNames names;
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

void Editor::find_facts() {
  facts_.assign(program_.values.size(), {});
  for (size_t i = 0; i < facts_.size(); ++i) facts_[i].root = static_cast<ValueId>(i);
  const auto fact = [&](ValueId value) -> Fact& { return facts_[index(value)]; };
  std::vector<bool> is_defined(program_.values.size(), false);
  for (const Input& input : program_.inputs) {
    fact(input.value).is_shared = true;
    is_defined[index(input.value)] = true;
  }
  for (const Constant& constant : program_.constants) {
    fact(constant.value).constant = constant.tensor;
    is_defined[index(constant.value)] = true;
  }
  for (size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& node = program_.nodes[i];
    for_each_needed(node, [&](ValueId value) { ++fact(value).uses; });
    const ValueId operand = first_operand(node);
    for (const ValueId result : node.results) {
      if (is_defined[index(result)]) continue;
      is_defined[index(result)] = true;
      fact(result).definition = static_cast<int>(i);
      if (may_alias(*node.op) && operand != kNoValue) fact(result).root = root_of(operand);
    }
    if (!node.writes) continue;
    const auto mark = [&](ValueId value) {
      if (value != kNoValue) fact(root_of(value)).is_written = true;
    };
    if (node.gives_results) std::for_each(node.results.begin(), node.results.end(), mark);
    for (size_t k = 0; k < node.arguments.size(); ++k)
      if (node.op->schema().arguments[k].is_written)
        std::for_each(node.arguments[k].values.begin(), node.arguments[k].values.end(), mark);
  }
  for (const Output& output : program_.outputs) {
    ++fact(output.value).uses;
    fact(root_of(output.value)).escapes = true;
  }
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
  return !facts_[index(root_of(old))].escapes || !(root.escapes || root.is_shared);
}

bool Editor::replace(int position, std::span<const Argument> bindings, std::span<const int> matched,
                     const Build& build) {
  const std::vector<ValueId> results = program_.nodes[static_cast<size_t>(position)].results;
  std::optional<Splice> splice = record(bindings, build);
  if (!splice || splice->part.outputs.size() != results.size()) return false;
  Program& part = splice->part;
  for (size_t i = 0; i < results.size(); ++i)
    if (!has_form(results[i], *splice, part.outputs[i].value)) return false;
  for (const Node& node : part.nodes)
    if (node.writes || draws_numbers(*node.op)) return false;

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
  std::map<ValueId, ValueId> roots;  // of the part
  for (const Node& node : part.nodes) {
    const ValueId operand = may_alias(*node.op) ? first_operand(node) : kNoValue;
    for (const ValueId result : node.results)
      if (operand != kNoValue && operand != result) roots[result] = roots.contains(operand) ? roots[operand] : operand;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueId value = part.outputs[i].value;
    const ValueId root = roots.contains(value) ? roots[value] : value;
    const ValueId shared = index(root) < splice->inputs.size() ? numbers[index(root)] : kNoValue;
    if (shared != kNoValue && !may_share(results[i], shared)) return false;
  }

  // From here on the program changes.
  for (const auto& [value, tensor] : splice->constants) {
    ValueId& number = numbers[index(value)];
    for (const Constant& constant : program_.constants)
      if (constant.tensor.get() == tensor.get()) number = constant.value;
    if (number != kNoValue) continue;
    std::string name = "constant";
    for (const Argument& binding : bindings)
      for (const ValueId bound : binding.values)
        if (bound != kNoValue && constant(bound) && constant(bound)->sizes() == tensor->sizes() && name == "constant")
          name = std::find_if(program_.constants.begin(), program_.constants.end(), [&](const Constant& each) {
                   return each.value == bound;
                 })->name;
    number = add_constant(tensor, name);
  }
  for (size_t i = 0; i < part.values.size(); ++i) {
    if (numbers[i] != kNoValue) continue;
    numbers[i] = static_cast<ValueId>(program_.values.size());
    program_.values.push_back(std::move(part.values[i]));
    const auto change = [&](Atom& atom) {
      if (atom.value != kNoValue) atom.value = numbers[index(atom.value)];
    };
    change_atoms(program_.values.back().sizes, change);
    for (size_t run = 0; run < runs_.size(); ++run) {
      const RecordedValue& form = splice->recordings[run]->values()[i];
      runs_[run].tensors.push_back(Tensor::without_memory(form.sizes, form.dtype, form.device));
    }
  }
  for (Node& node : part.nodes) {
    for (ValueId& result : node.results) result = numbers[index(result)];
    for (Argument& argument : node.arguments) {
      for (ValueId& value : argument.values)
        if (value != kNoValue) value = numbers[index(value)];
      change_atoms(argument.sizes, [&](Atom& atom) {
        if (atom.value != kNoValue) atom.value = numbers[index(atom.value)];
      });
    }
  }
  // The call at `position` goes, and those of `matched` whose results are not needed by others.
  for (const auto& [old, by] : substituted) substitute(old, numbers[index(by)]);
  std::vector<Node>& nodes = program_.nodes;
  nodes.erase(nodes.begin() + position);
  nodes.insert(nodes.begin() + position, std::make_move_iterator(part.nodes.begin()),
               std::make_move_iterator(part.nodes.end()));
  find_facts();
  std::vector<int> removed(matched.begin(), matched.end());
  std::sort(removed.rbegin(), removed.rend());
  for (const int each : removed) {
    const Node& node = nodes[static_cast<size_t>(each)];
    if (node.writes || std::any_of(node.results.begin(), node.results.end(),
                                   [&](ValueId value) { return use_count(value) > 0 && definition(value) == each; }))
      continue;
    nodes.erase(nodes.begin() + each);
    find_facts();
  }
  // Frees the memory of constants that were replaced.
  if (std::erase_if(program_.constants, [&](const Constant& each) { return use_count(each.value) == 0; }) > 0)
    find_facts();
  return true;
}

bool Editor::replace_value(ValueId old, ValueId by) {
  if (!may_share(old, by)) return false;
  substitute(old, by);
  find_facts();
  return true;
}

void Editor::substitute(ValueId old, ValueId by) {
  const auto change = [&](ValueId& value) {
    if (value == old) value = by;
  };
  for (Node& node : program_.nodes)
    for (Argument& argument : node.arguments) {
      std::for_each(argument.values.begin(), argument.values.end(), change);
      change_atoms(argument.sizes, [&](Atom& atom) { change(atom.value); });
    }
  for (Output& output : program_.outputs) change(output.value);
  for (size_t i = 0; i < program_.values.size(); ++i)
    if (static_cast<ValueId>(i) != old) change_atoms(program_.values[i].sizes, [&](Atom& atom) { change(atom.value); });
}

ValueId Editor::add_constant(TensorRef tensor, const std::string& name) {
  const auto number = static_cast<ValueId>(program_.values.size());
  Value value{tensor->dtype(), tensor->device(), {}};
  for (const int64_t size : tensor->sizes()) value.sizes.push_back({size, {}, 1});
  program_.values.push_back(std::move(value));
  for (Registers& run : runs_) run.tensors.push_back(Tensor::without_memory(*tensor));
  program_.constants.push_back({name, number, std::move(tensor)});
  return number;
}

void Editor::make_constant(ValueId value, TensorRef tensor) {
  const ValueId constant = add_constant(std::move(tensor), "constant");
  substitute(value, constant);
  find_facts();
}

int64_t Editor::narrow_constants(of_dtype dtype) {
  static constinit const OperatorName cast("cast");
  constexpr int64_t kLarge = 1024;  // the fewest elements for which it pays
  std::vector<Node> casts;
  for (size_t i = 0; i < program_.constants.size(); ++i) {
    const Constant constant = program_.constants[i];
    const of_dtype wide = constant.tensor->dtype();
    if (!is_floating(wide) || dtype_size(wide) <= dtype_size(dtype) || constant.tensor->count() < kLarge) continue;
    const ValueId narrow = add_constant(call_operator(cast, *constant.tensor, dtype), constant.name);
    std::swap(program_.constants[i], program_.constants.back());
    program_.constants.pop_back();
    Node node{&*cast, std::vector<Argument>(2), {constant.value}};
    node.arguments[0].kind = OF_VALUE_TENSOR;
    node.arguments[0].values = {narrow};
    node.arguments[1].kind = OF_VALUE_DTYPE;
    node.arguments[1].dtype = wide;
    casts.push_back(std::move(node));
  }
  program_.nodes.insert(program_.nodes.begin(), casts.begin(), casts.end());
  find_facts();
  return static_cast<int64_t>(casts.size());
}

void Editor::remove_unused() {
  remove_unused_calls(program_);
  find_facts();
}

}  // namespace oneflow::graph
