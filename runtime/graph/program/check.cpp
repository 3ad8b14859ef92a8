#include "graph/program/check.h"

#include <set>

#include "base/characters.h"
#include "base/error.h"
#include "dispatch/dispatch.h"
#include "graph/program/bound_call.h"
#include "graph/program/text.h"

namespace oneflow::graph {

namespace {

class Checker {
 public:
  explicit Checker(Program& program) : program_(program), roots_(program.values.size(), kNoValue) {
    registers_.tensors.resize(program.values.size());
  }

  void run() {
    check_sizes();
    for (const Input& input : program_.inputs) define_input(input);
    for (size_t i = 0; i < program_.sizes.size(); ++i)
      if (!named_.contains(static_cast<int32_t>(i)))
        fail(OF_INVALID_ARGUMENT, "no input has the size '%s'", program_.sizes[i].name.c_str());
    for (const Constant& constant : program_.constants) define_constant(constant);
    for (size_t i = 0; i < program_.nodes.size(); ++i) define_results(program_.nodes[i], i);
    std::set<std::string> names;
    std::set<ValueId> constants;
    for (const Constant& constant : program_.constants) constants.insert(constant.value);
    for (Output& output : program_.outputs) {
      check_name(names, "output", output.name);
      use(output.value);
      output.shares_constant = constants.contains(root_of(output.value));
    }
  }

 private:
  const Value& use(ValueId value) const {
    if (value < 0 || static_cast<size_t>(value) >= program_.values.size() ||
        !registers_.tensors[static_cast<size_t>(value)])
      fail(OF_INVALID_ARGUMENT, "%%%d is used before it is defined", value);
    return program_.values[static_cast<size_t>(value)];
  }

  static void check_name(std::set<std::string>& names, const char* what, const std::string& name) {
    if (!names.insert(name).second) fail(OF_INVALID_ARGUMENT, "there are two %ss '%s'", what, printable(name).c_str());
  }

  void check_sizes() {
    std::set<std::string> names;
    for (const NamedSize& size : program_.sizes) {
      check_name(names, "size", size.name);
      if (!is_size_name(size.name))
        fail(OF_INVALID_ARGUMENT, "the name of a size must be a word of letters, digits and _, got '%s'",
             printable(size.name).c_str());
      check_example(size);
      registers_.named_sizes.push_back(size.example);
    }
  }

  // Throws InvalidArgument unless an expression refers to sizes that are known.
  void check_expression(const SizeExpression& expression, ValueId itself = kNoValue) const {
    if (expression.divisor < 1) fail(OF_INVALID_ARGUMENT, "the divisor of a size must be positive");
    for (const Term& term : expression.terms)
      for (const Atom& atom : term.atoms) {
        if (atom.value == kNoValue) {
          if (atom.number < 0 || static_cast<size_t>(atom.number) >= program_.sizes.size())
            fail(OF_INVALID_ARGUMENT, "there is no size number %d", atom.number);
          continue;
        }
        const size_t rank = atom.value == itself ? program_.values[static_cast<size_t>(itself)].sizes.size()
                                                 : use(atom.value).sizes.size();
        if (atom.number < 0 || static_cast<size_t>(atom.number) >= rank)
          fail(OF_INVALID_ARGUMENT, "%%%d has no dimension %d", atom.value, atom.number);
      }
  }

  // Defines a value, whose tensor must be as the program says.
  void define(ValueId id, TensorRef tensor) {
    if (id < 0 || static_cast<size_t>(id) >= program_.values.size())
      fail(OF_INVALID_ARGUMENT, "there is no value %%%d", id);
    const Value& value = program_.values[static_cast<size_t>(id)];
    if (value.dtype != tensor->dtype() || value.sizes.size() != tensor->sizes().size())
      fail(OF_INVALID_ARGUMENT, "%%%d must be %s with %zu dimensions, but is %s of shape %s", id,
           dtype_name(value.dtype), value.sizes.size(), dtype_name(tensor->dtype()), to_text(tensor->sizes()).c_str());
    for (const SizeExpression& size : value.sizes) check_expression(size, id);
    registers_.tensors[static_cast<size_t>(id)] = std::move(tensor);
    for (int dim = 0; dim < static_cast<int>(value.sizes.size()); ++dim) {
      const int64_t expected = registers_.value_of(value.sizes[static_cast<size_t>(dim)]);
      const int64_t found = registers_.tensors[static_cast<size_t>(id)]->size(dim);
      if (expected != found)
        fail(OF_INVALID_ARGUMENT, "dimension %d of %%%d must be %ld, but is %ld", dim, id, expected, found);
    }
  }

  // Defines a value that only one thing may define.
  void define_once(ValueId id, TensorRef tensor) {
    if (id >= 0 && static_cast<size_t>(id) < registers_.tensors.size() && registers_.tensors[static_cast<size_t>(id)])
      fail(OF_INVALID_ARGUMENT, "%%%d is defined twice", id);
    define(id, std::move(tensor));
  }

  void define_input(const Input& input) {
    check_name(input_names_, "input", input.name);
    if (input.value < 0 || static_cast<size_t>(input.value) >= program_.values.size())
      fail(OF_INVALID_ARGUMENT, "there is no value %%%d", input.value);
    const Value& value = program_.values[static_cast<size_t>(input.value)];
    Shape sizes;
    for (const SizeExpression& size : value.sizes) {
      const bool is_name = size.terms.size() == 1 && size.terms[0].factor == 1 && size.terms[0].atoms.size() == 1 &&
                           size.terms[0].atoms[0].value == kNoValue && size.constant == 0 && size.divisor == 1;
      if (!size.is_constant() && !is_name)
        fail(OF_INVALID_ARGUMENT, "the sizes of input '%s' must be numbers or named sizes",
             printable(input.name).c_str());
      check_expression(size);
      if (is_name) named_.insert(size.terms[0].atoms[0].number);
      sizes.push_back(registers_.value_of(size));
    }
    define_once(input.value, Tensor::without_memory(sizes, value.dtype, value.device));
    share(input.value);
  }

  void define_constant(const Constant& constant) {
    check_name(constant_names_, "constant", constant.name);
    if (!constant.tensor || !constant.tensor->has_memory())
      fail(OF_INVALID_ARGUMENT, "constant '%s' has no elements", printable(constant.name).c_str());
    define_once(constant.value, Tensor::without_memory(*constant.tensor));
    share(constant.value);
  }

  void share(ValueId value) {
    roots_[static_cast<size_t>(value)] = value;
    shared_.insert(value);
  }

  void define_results(Node& node, size_t number) {
    try {
      check_node(node);
    } catch (const Error& error) {
      throw Error(error.status(),
                  "call " + std::to_string(number) + ", " + node.op->schema().name + ": " + error.text());
    }
  }

  void check_node(Node& node) {
    for (const Argument& argument : node.arguments) {
      for (const ValueId value : argument.values)
        if (value != kNoValue) use(value);
      for (const SizeExpression& size : argument.sizes) check_expression(size);
    }
    std::vector<TensorRef> found = infer(node, bound_, registers_);
    check_writes(node);
    if (found.size() != node.results.size())
      fail(OF_INVALID_ARGUMENT, "it has %zu results, not %zu", found.size(), node.results.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const ValueId id = node.results[i];
      if (node.gives_results) {
        use(id);
        check_destination(*registers_.tensors[static_cast<size_t>(id)], found[i]->sizes(), found[i]->dtype());
        continue;
      }
      // A call that returns an operand as it is defines no new value.
      const bool is_operand = id >= 0 && static_cast<size_t>(id) < registers_.tensors.size() &&
                              registers_.tensors[static_cast<size_t>(id)].get() == found[i].get();
      if (is_operand) continue;
      define_once(id, std::move(found[i]));
      roots_[static_cast<size_t>(id)] = root_of_result(node, i, id, [&](ValueId value) { return root_of(value); });
    }
  }

  ValueId root_of(ValueId value) const { return roots_[static_cast<size_t>(value)]; }

  // Throws InvalidArgument if a call writes to the memory of an input or a constant, which all runs share.
  void check_writes(const Node& node) const {
    for_each_written(node, [&](ValueId value) {
      if (shared_.contains(root_of(value)))
        fail(OF_INVALID_ARGUMENT, "it writes to %%%d, which shares memory with an input or a constant", value);
    });
  }

  Program& program_;
  Registers registers_;
  BoundCall bound_;
  std::set<std::string> input_names_, constant_names_;
  std::vector<ValueId> roots_;  // the value that each is a view of, or may be
  std::set<ValueId> shared_;    // the inputs and constants
  std::set<int32_t> named_;     // the numbers of the sizes that inputs have
};

}  // namespace

void check_program(Program& program) { Checker(program).run(); }

}  // namespace oneflow::graph
