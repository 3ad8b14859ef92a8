#include "graph/program/dead_code.h"

#include <algorithm>

namespace oneflow::graph {

namespace {

// Returns the position of the call that defines each value; -1 for inputs and constants.
std::vector<int> definitions(const Program& program) {
  std::vector<int> found(program.values.size(), -1);
  std::vector<bool> is_defined(program.values.size(), false);
  for (const Input& input : program.inputs) is_defined[index(input.value)] = true;
  for (const Constant& constant : program.constants) is_defined[index(constant.value)] = true;
  for (size_t i = 0; i < program.nodes.size(); ++i)
    for (const ValueId result : program.nodes[i].results) {
      if (!is_defined[index(result)]) found[index(result)] = static_cast<int>(i);
      is_defined[index(result)] = true;
    }
  return found;
}

class Renumbering {
 public:
  explicit Renumbering(Program& program) : program_(program), numbers_(program.values.size(), kNoValue) {}

  void run() {
    for (Input& input : program_.inputs) define(input.value);
    for (Constant& constant : program_.constants) define(constant.value);
    for (Node& node : program_.nodes)
      for (const ValueId result : node.results) define(result);
    for (Input& input : program_.inputs) change(input.value);
    for (Constant& constant : program_.constants) change(constant.value);
    for (Output& output : program_.outputs) change(output.value);
    for (Node& node : program_.nodes) {
      for (ValueId& result : node.results) change(result);
      for (Argument& argument : node.arguments) {
        for (ValueId& value : argument.values) change(value);
        for (SizeExpression& size : argument.sizes) change(size);
      }
    }
    for (size_t i = 0; i < values_.size(); ++i) change_sizes(static_cast<ValueId>(i));
    program_.values = std::move(values_);
  }

 private:
  void define(ValueId value) {
    ValueId& number = numbers_[index(value)];
    if (number != kNoValue) return;
    number = static_cast<ValueId>(values_.size());
    values_.push_back(program_.values[index(value)]);
  }
  void change(ValueId& value) const {
    if (value != kNoValue) value = numbers_[index(value)];
  }
  void change(SizeExpression& size) const {
    for (Term& term : size.terms)
      for (Atom& atom : term.atoms) change(atom.value);
  }
  // A size may have followed from that of a value that is gone, or is defined later now: then it follows from itself.
  void change_sizes(ValueId id) {
    std::vector<SizeExpression>& sizes = values_[index(id)].sizes;
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      bool is_known = true;
      for_each_sized({&sizes[dim], 1}, [&](ValueId value) {
        is_known &= numbers_[index(value)] != kNoValue && numbers_[index(value)] <= id;
      });
      if (is_known)
        change(sizes[dim]);
      else
        sizes[dim] = {0, {{1, {{id, static_cast<int32_t>(dim)}}}}, 1};
    }
  }

  Program& program_;
  std::vector<ValueId> numbers_;  // the new number of each value; kNoValue for those that are gone
  std::vector<Value> values_;
};

}  // namespace

void remove_unused_calls(Program& program) {
  const std::vector<int> definition = definitions(program);
  std::vector<bool> is_used(program.values.size(), false);
  for (const Output& output : program.outputs) is_used[index(output.value)] = true;
  std::vector<Node> kept;
  for (size_t i = program.nodes.size(); i-- > 0;) {
    Node& node = program.nodes[i];
    // A call that returns an operand as it is defines nothing.
    const auto is_needed = [&](ValueId result) {
      return is_used[index(result)] && definition[index(result)] == static_cast<int>(i);
    };
    const bool stays =
        node.writes || has_effects(*node.op) || std::any_of(node.results.begin(), node.results.end(), is_needed);
    if (!stays) continue;
    for_each_needed(node, [&](ValueId value) { is_used[index(value)] = true; });
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  program.nodes = std::move(kept);
  std::erase_if(program.constants, [&](const Constant& constant) { return !is_used[index(constant.value)]; });
}

void remove_dead_code(Program& program) {
  remove_unused_calls(program);
  Renumbering(program).run();
}

}  // namespace oneflow::graph
