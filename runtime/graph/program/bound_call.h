// A call of a graph with tensors for its operands.
#ifndef ONEFLOW_GRAPH_PROGRAM_BOUND_CALL_H_
#define ONEFLOW_GRAPH_PROGRAM_BOUND_CALL_H_

#include <span>
#include <vector>

#include "base/error.h"
#include "dispatch/values.h"
#include "graph/program/program.h"

namespace oneflow::graph {

// The tensors of values, and the named sizes, in one run of a graph.
struct Registers {
  std::vector<TensorRef> tensors;  // null for values that are not there
  std::vector<int64_t> named_sizes;

  int64_t size_of(const Atom& atom) const {
    if (atom.value == kNoValue) return named_sizes[static_cast<size_t>(atom.number)];
    return tensors[static_cast<size_t>(atom.value)]->size(atom.number);
  }
  int64_t value_of(const SizeExpression& expression) const {
    return evaluate(expression, [this](const Atom& atom) { return size_of(atom); });
  }
};

// The arguments of calls, which borrow their tensors and texts. An object can be bound again and again.
class BoundCall {
 public:
  // Binds the arguments of a call, whose operands must be there. `generator` replaces a generator that is not given, or
  // is null.
  void bind(const Node& node, const Registers& registers, of_generator generator) {
    bind(node.arguments, registers);
    if (generator) set_generators(node.op->schema(), generator);
  }
  void bind(std::span<const Argument> arguments, const Registers& registers);
  std::span<const of_value> arguments() const { return arguments_; }

 private:
  void set_generators(const Schema& schema, of_generator generator);

  std::vector<of_value> arguments_;
  std::vector<int64_t> integers_;
  std::vector<of_tensor> tensors_;
};

// The results of a call of a node: values that are there already, if the call writes to them, or new ones.
class BoundResults {
 public:
  BoundResults(const Node& node, const Registers& registers);
  BoundResults(const BoundResults&) = delete;
  BoundResults& operator=(const BoundResults&) = delete;
  std::span<of_value> values() { return {values_, static_cast<size_t>(node_.op->schema().result_count)}; }
  // Stores the new values, once the call has succeeded. Throws ShapeError for a list with another number of items.
  void store(Registers& registers);

 private:
  const Node& node_;
  of_value values_[kMaxResults]{};
  std::vector<of_tensor> given_;  // the items of a list that is written to
};

// Throws an error with the number and the name of the call in which it occurred.
[[noreturn]] void fail_in_call(const Error& error, const Program& program, size_t call);

// Computes the shapes and dtypes of the results of a call: tensors without memory. Sets node.writes.
std::vector<TensorRef> infer(Node& node, BoundCall& bound, const Registers& registers);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_BOUND_CALL_H_
