// The data model of graphs: programs of calls of operators, which were captured once, with the tensors that they use.
//
// A value is a variable that holds a tensor. Most calls define new values; a call that writes to a tensor in place
// changes the elements of a value, and of those that share its memory.
#ifndef ONEFLOW_GRAPH_PROGRAM_PROGRAM_H_
#define ONEFLOW_GRAPH_PROGRAM_PROGRAM_H_

#include <span>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "dispatch/operator.h"
#include "graph/program/size_expression.h"
#include "tensor/tensor.h"

namespace oneflow::graph {

// A size of the inputs that varies from run to run.
struct NamedSize {
  std::string name;
  int64_t example;  // its value at the capture
  int64_t minimum = 1, maximum = INT64_MAX, step = 1;

  // Returns whether it can have a value.
  bool allows(int64_t size) const { return size >= minimum && size <= maximum && (size - minimum) % step == 0; }
  // Returns the values that it can have, for error texts: "between 4 and 64 in steps of 4".
  std::string words() const;
};

// Throws InvalidArgument unless the range of a size is valid, and holds its example.
void check_example(const NamedSize& size);

struct Value {
  of_dtype dtype;
  of_device device;
  std::vector<SizeExpression> sizes;  // an atom for the size itself says that it follows from no others
};

// An argument of a call.
struct Argument {
  of_value_kind kind = OF_VALUE_ABSENT;
  of_scalar number{};                      // of a BOOL, FLOAT or UINT
  of_dtype dtype = OF_DTYPE_NONE;          // of a DTYPE
  std::vector<of_device> devices = {};     // of a DEVICE or a DEVICE_LIST
  std::string text = {};                   // of a STRING
  std::vector<SizeExpression> sizes = {};  // of an INT or an INT_LIST
  std::vector<ValueId> values = {};        // of a TENSOR or a TENSOR_LIST, of which items can be missing
  bool operator==(const Argument&) const;
};

// Returns an argument for a value that is no tensor. A generator becomes None: graphs draw from that of each run.
Argument argument_of(const of_value& value);
// Returns the default of an argument of an operator.
Argument default_of(const oneflow::Argument& argument);

// A call of an operator.
struct Node {
  const Operator* op;
  std::vector<Argument> arguments;  // of the signature, all of them
  std::vector<ValueId> results;
  bool gives_results = false;  // whether the results are values that exist already, to which the call writes
  bool writes = false;         // whether it writes to these, or to operands
};

struct Input {
  std::string name;
  ValueId value;
};

// A tensor that the program uses, and does not compute.
struct Constant {
  std::string name;
  ValueId value;
  TensorRef tensor;
};

struct Output {
  std::string name;
  ValueId value;
  bool shares_constant = false;  // whether it may have the memory of a constant
};

struct Program {
  std::vector<NamedSize> sizes;
  std::vector<Value> values;
  std::vector<Input> inputs;
  std::vector<Constant> constants;
  std::vector<Node> nodes;
  std::vector<Output> outputs;                    // those that the program returns, and then those that it writes to
  size_t returned = 0;                            // the number of the first ones
  std::string input_structure, output_structure;  // how they are nested: see files/structure.h
  // What users should know of its sizes, and errors of runs say. Not part of files.
  std::string note = {};
};

// Returns the position of a value in lists of all values.
inline size_t index(ValueId value) { return static_cast<size_t>(value); }

// Calls visit(value) for each value whose sizes some sizes follow from.
template <class Visit>
void for_each_sized(std::span<const SizeExpression> sizes, Visit&& visit) {
  for (const SizeExpression& size : sizes)
    for (const Term& term : size.terms)
      for (const Atom& atom : term.atoms)
        if (atom.value != kNoValue) visit(atom.value);
}

// Calls visit(value) for each value that a call reads.
template <class Visit>
void for_each_operand(const Node& node, Visit&& visit) {
  for (const Argument& argument : node.arguments)
    for (const ValueId value : argument.values)
      if (value != kNoValue) visit(value);
}

// Calls visit(value) for each value that a call needs: its operands, the values to which it writes, and those whose
// sizes its arguments follow from.
template <class Visit>
void for_each_needed(const Node& node, Visit&& visit) {
  for_each_operand(node, visit);
  if (node.gives_results)
    for (const ValueId value : node.results) visit(value);
  for (const Argument& argument : node.arguments) for_each_sized(argument.sizes, visit);
}

// Returns whether an argument of a call has its default.
bool has_default(const Node& node, size_t argument);
// Calls visit(value) for each value to which a call writes.
template <class Visit>
void for_each_written(const Node& node, Visit&& visit) {
  if (!node.writes) return;
  if (node.gives_results)
    for (const ValueId value : node.results) visit(value);
  for (size_t i = 0; i < node.arguments.size(); ++i)
    if (node.op->schema().arguments[i].is_written)
      for (const ValueId value : node.arguments[i].values)
        if (value != kNoValue) visit(value);
}

// Returns whether an operator draws random numbers.
bool draws_numbers(const Operator& op);
// Returns whether a call does more than to compute its results, so that it must run, and just once: it draws random
// numbers, or other processes wait for it.
bool has_effects(const Operator& op);
// Returns the operand whose memory a result of a call may share: that of a view, for example. kNoValue: the result has
// memory of its own.
ValueId aliased_operand(const Node& node, size_t result);
// Returns the root of a result of a call, `value`: the value whose memory it may have, which for others than views is
// itself. root_of(value) returns the root of a value that is defined before.
template <class RootOf>
ValueId root_of_result(const Node& node, size_t result, ValueId value, RootOf&& root_of) {
  const ValueId operand = aliased_operand(node, result);
  return operand == kNoValue || operand == value ? value : root_of(operand);
}

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_PROGRAM_H_
