// Elementwise operators as the nodes of their scalar expressions.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "onnx/exporters.h"
#include "onnx/expressions.h"
#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

// What a step computes: elements of the compute type, or truth values; a number, or what is known without elements.
struct Part {
  Name name = {};
  bool is_truth = false;
  std::optional<double> number = {};
};

const Expression& expression_of(const ExportCall& call) {
  const auto found = std::ranges::find(expressions(), call.name(), [](const Expression& each) { return each.op; });
  if (found == expressions().end()) throw Unsupported("ONNX has no operator for it");
  return *found;
}

// Returns whether float64 has an integer, and all that are nearer to 0.
bool is_double(int64_t value) {
  constexpr int64_t kLargest = int64_t{1} << 53;
  return -kLargest <= value && value <= kLargest;
}

// Returns the branch that the arguments of a call select.
const Branch& branch_of(const ExportCall& call, const Expression& expression) {
  if (expression.match < 0) return expression.branches[0];
  const of_graph_argument& given = call.argument(static_cast<size_t>(expression.match));
  std::string_view value = given.kind == OF_VALUE_NONE ? "none" : "given";
  if (given.kind == OF_VALUE_STRING) value = {given.as.string, static_cast<size_t>(given.count)};
  if (given.kind == OF_VALUE_BOOL) value = given.as.boolean ? "true" : "false";
  return *std::ranges::find(expression.branches, value, [](const Branch& branch) { return branch.value; });
}

// Returns a dtype that all elements are converted to, which runtimes have their operators for.
DType compute_type(DType dtype) {
  switch (dtype) {
    case float64:
    case int32:
    case int64:
    case bool_:
      return dtype;
    case uint32:
    case uint64:
      return int64;
    case int8:
    case uint8:
    case int16:
    case uint16:
      return int32;
    case complex64:
    case complex128:
      throw Unsupported("ONNX does not compute with complex numbers");
    default:
      return float32;
  }
}

// Returns the type that the operands of a call are promoted to.
DType promoted(const ExportCall& call, const Branch& branch) {
  DType found = OF_DTYPE_NONE, of_numbers = OF_DTYPE_NONE;
  for (const Step& step : branch.steps) {
    if (step.function || step.argument < 0 || step.is_truth) continue;
    const of_graph_argument& given = call.argument(static_cast<size_t>(step.argument));
    const auto promote = [](DType a, DType b) { return a == OF_DTYPE_NONE ? b : of_promote_types(a, b); };
    if (given.kind == OF_VALUE_TENSOR)
      found = promote(found, static_cast<DType>(call.out().type(given.as.values[0]).dtype));
    else if (given.kind == OF_VALUE_FLOAT)
      of_numbers = float32;
    else if (given.kind == OF_VALUE_INT && of_numbers == OF_DTYPE_NONE)
      of_numbers = int64;
  }
  if (found == OF_DTYPE_NONE) return of_numbers;
  if (of_numbers == float32 && !is_floating(found)) return float32;
  return found == bool_ && of_numbers == int64 ? int64 : found;
}

// A function that ONNX has with the same operands, for numbers of all types.
struct Same {
  std::string_view function, type;
  bool gives_truth = false;
};
constexpr std::array kSame{
    Same{"add", "Add"},
    Same{"bit_and", "BitwiseAnd"},
    Same{"bit_not", "BitwiseNot"},
    Same{"bit_or", "BitwiseOr"},
    Same{"bit_xor", "BitwiseXor"},
    Same{"div", "Div"},
    Same{"eq", "Equal", true},
    Same{"gt", "Greater", true},
    Same{"lt", "Less", true},
    Same{"maximum", "Max"},
    Same{"minimum", "Min"},
    Same{"mul", "Mul"},
    Same{"pow", "Pow"},
    Same{"sub", "Sub"},
};

class Writer {
 public:
  explicit Writer(const ExportCall& call)
      : call_(call),
        out_(call.out()),
        expression_(expression_of(call)),
        branch_(branch_of(call, expression_)),
        wanted_(wanted_type()),
        // Where several steps compute, their results are rounded once.
        compute_(is_half(wanted_) && function_count() <= 1 ? wanted_ : compute_type(wanted_)) {}

  std::vector<Name> run() {
    std::vector<Name> results;
    for (size_t i = 0; i < branch_.results.size(); ++i) {
      const Part& part = step(branch_.results[i]);
      const DType dtype = call_.result_dtype(i);
      Name name;
      if (part.number)
        name = out_.number(dtype, *part.number);
      else
        name = part.is_truth ? out_.cast(part.name, bool_, dtype) : out_.cast(elements(part), held(), dtype);
      results.push_back(spread(name, i, part));
    }
    return results;
  }

 private:
  DType wanted_type() const {
    switch (expression_.compute) {
      case Compute::kBool:
        return bool_;
      case Compute::kOperands:
        return promoted(call_, branch_);
      case Compute::kFloating: {
        const DType dtype = promoted(call_, branch_);
        return is_floating(dtype) ? dtype : float32;
      }
      default:
        return call_.result_dtype();
    }
  }
  // Truth values are computed with as 0 and 1.
  DType held() const { return compute_ == bool_ ? int32 : compute_; }
  bool is_real() const { return is_floating(compute_); }

  size_t function_count() const {
    return static_cast<size_t>(std::ranges::count_if(branch_.steps, [](const Step& step) { return step.function; }));
  }

  // Gives a result its shape, if the expression does not use all operands.
  Name spread(const Name& name, size_t result, const Part& part) {
    if (!part.number && uses_shape(result)) return name;
    return out_.add("Expand", {name, out_.integers(call_.result_sizes(result))});
  }

  // Returns whether the operands of the expression have, together, the shape of the result.
  bool uses_shape(size_t result) const {
    std::vector<bool> is_used(branch_.steps.size());
    is_used[static_cast<size_t>(branch_.results[result])] = true;
    const Integers sizes = call_.result_sizes(result);
    std::vector<bool> covered(sizes.size());
    for (size_t i = branch_.steps.size(); i-- > 0;) {
      if (!is_used[i]) continue;
      const Step& step = branch_.steps[i];
      for (int16_t k = 0; k < step.operand_count; ++k) is_used[static_cast<size_t>(step.operands[k])] = true;
      if (step.function || step.argument < 0) continue;
      const of_graph_argument& given = call_.argument(static_cast<size_t>(step.argument));
      if (given.kind != OF_VALUE_TENSOR) continue;
      const of_graph_value& type = out_.type(given.as.values[0]);
      const size_t rank = static_cast<size_t>(type.rank);
      for (size_t dim = 0; dim < rank; ++dim)
        if (type.sizes[dim] != 1) covered[sizes.size() - rank + dim] = true;
      if (rank == sizes.size())
        for (size_t dim = 0; dim < rank; ++dim)
          if (call_.result(result).sizes[dim] == 1) covered[dim] = true;
    }
    return std::ranges::all_of(covered, [](bool each) { return each; });
  }

  const Part& step(int16_t number) {
    std::optional<Part>& part = parts_[static_cast<size_t>(number)];
    if (!part) part = compute(branch_.steps[static_cast<size_t>(number)]);
    return *part;
  }

  Part compute(const Step& step) {
    if (step.function) return call_function(step);
    if (step.argument < 0) return {{}, false, step.number};
    const of_graph_argument& given = call_.argument(static_cast<size_t>(step.argument));
    if (given.kind == OF_VALUE_TENSOR) {
      const auto dtype = static_cast<DType>(out_.type(given.as.values[0]).dtype);
      if (step.is_truth) return {out_.cast(out_.value(given.as.values[0]), dtype, bool_), true};
      if (dtype == bool_ && compute_ == bool_) return {out_.value(given.as.values[0]), true};
      // Elements that are converted to bool become 0 or 1.
      const Name name = compute_ == bool_ ? out_.cast(out_.value(given.as.values[0]), dtype, bool_) : Name();
      if (!name.empty()) return {name, true};
      return {call_.tensor(given, held())};
    }
    switch (given.kind) {
      case OF_VALUE_FLOAT:
        // In an integer type, a number is truncated.
        return {{}, false, is_real() || compute_ == bool_ ? given.as.real : std::trunc(given.as.real)};
      case OF_VALUE_BOOL:
        return {{}, false, given.as.boolean};
      case OF_VALUE_INT:
        if (const of_graph_integer& value = given.as.integers[0]; is_constant(value) && is_double(value.constant))
          return {{}, false, static_cast<double>(value.constant)};
        return {call_.tensor(given, held())};
      default:
        return {call_.tensor(given, held())};
    }
  }

  // Returns the elements of a part in the compute type.
  Name elements(const Part& part) {
    if (part.number) return out_.number(held(), compute_ == bool_ ? *part.number != 0 : *part.number);
    return part.is_truth ? out_.cast(part.name, bool_, held()) : part.name;
  }

  // Returns the truth values of a part.
  Name truth(const Part& part) {
    if (part.number) return out_.number(bool_, *part.number != 0);
    return part.is_truth ? part.name : out_.cast(part.name, held(), bool_);
  }

  Name number(double value) { return out_.number(held(), value); }
  Name add(std::string_view type, std::vector<Name> inputs, const Attributes& attributes = {}) {
    return out_.add(type, std::move(inputs), attributes);
  }
  Name negated(const Name& name) { return add("Not", {name}); }

  Part call_function(const Step& step) {
    const std::string_view function = step.function;
    if (function == "given") {
      const bool is_given = call_.argument(static_cast<size_t>(step.argument)).kind != OF_VALUE_NONE;
      return {{}, true, is_given};
    }
    if (function == "where") return selection(step);
    std::vector<const Part*> parts;
    for (int16_t i = 0; i < step.operand_count; ++i) parts.push_back(&this->step(step.operands[i]));
    if (function == "float_type") return {{}, true, is_real()};
    if (function == "bool_type") return {{}, true, compute_ == bool_};
    if (function == "lowest" || function == "highest") return {{}, false, limit(function == "highest")};
    if (function == "and" || function == "or" || function == "not") return logical(function, parts);
    if (compute_ == bool_)
      if (const std::optional<Part> found = of_truths(function, parts)) return *found;
    std::vector<Name> operands;
    for (const Part* const part : parts) operands.push_back(elements(*part));
    return computed(function, operands);
  }

  Part selection(const Step& step) {
    const Part condition = this->step(step.operands[0]);
    if (condition.number) return this->step(step.operands[*condition.number != 0 ? 1 : 2]);
    const Part then = this->step(step.operands[1]), otherwise = this->step(step.operands[2]);
    const bool is_truth = then.is_truth && otherwise.is_truth;
    const auto operand = [&](const Part& part) { return is_truth ? truth(part) : elements(part); };
    return {add("Where", {truth(condition), operand(then), operand(otherwise)}), is_truth};
  }

  double limit(bool highest) const {
    if (is_real()) return highest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    if (compute_ == int64)
      return static_cast<double>(highest ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min());
    return highest ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int32_t>::min();
  }

  Part logical(std::string_view function, const std::vector<const Part*>& parts) {
    const auto is_known = [&](const Part* part, bool value) { return part->number && (*part->number != 0) == value; };
    if (function == "not") {
      if (parts[0]->number) return {{}, true, *parts[0]->number == 0};
      return {negated(truth(*parts[0])), true};
    }
    const bool absorbing = function == "or";  // the value that decides
    for (size_t i = 0; i < 2; ++i) {
      if (is_known(parts[i], absorbing)) return {{}, true, absorbing};
      if (is_known(parts[i], !absorbing)) return {truth(*parts[1 - i]), true};
    }
    return {add(absorbing ? "Or" : "And", {truth(*parts[0]), truth(*parts[1])}), true};
  }

  // The functions of truth values that are not those of the numbers 0 and 1.
  std::optional<Part> of_truths(std::string_view function, const std::vector<const Part*>& parts) {
    const auto pair = [&](const char* type) { return Part{add(type, {truth(*parts[0]), truth(*parts[1])}), true}; };
    if (function == "add" || function == "bit_or" || function == "maximum") return pair("Or");
    if (function == "mul" || function == "bit_and" || function == "minimum") return pair("And");
    if (function == "ne" || function == "bit_xor") return pair("Xor");
    if (function == "eq") return Part{negated(pair("Xor").name), true};
    if (function == "bit_not") return Part{negated(truth(*parts[0])), true};
    return {};
  }

  Part computed(std::string_view function, const std::vector<Name>& operands) {
    const Name& x = operands[0];
    const auto y = [&]() -> const Name& { return operands[1]; };
    if (function == "ne") return {negated(add("Equal", operands)), true};
    if (function == "le" || function == "ge") {
      if (out_.opset() >= 12) return {add(function == "le" ? "LessOrEqual" : "GreaterOrEqual", operands), true};
      return {add("Or", {add(function == "le" ? "Less" : "Greater", operands), add("Equal", operands)}), true};
    }
    if (!is_real()) {
      if (function == "isnan" || function == "isinf") return {{}, true, 0};
      if (function == "isfinite") return {{}, true, 1};
      if (function == "floor" || function == "ceil" || function == "trunc" || function == "round") return {x};
      if (function == "remainder") return {add("Mod", operands)};
      if (function == "fmod") return {add("Mod", operands, {{"fmod", int64_t{1}}})};
      if (function == "floordiv") return {add("Div", {add("Sub", {x, add("Mod", operands)}), y()})};
      if (function == "truncdiv") return {add("Div", operands)};
      if (function == "shift_left") return {add("Mul", {x, power_of_two(y())})};
      if (function == "shift_right") {
        const Name divisor = power_of_two(y());
        return {add("Div", {add("Sub", {x, add("Mod", {x, divisor})}), divisor})};
      }
    }
    for (const Same& same : kSame)
      if (same.function == function) return {add(same.type, operands), same.gives_truth};
    if (function == "truncdiv") return {truncated(add("Div", operands))};
    if (function == "isnan") return {add("IsNaN", operands), true};
    if (function == "isinf") return {add("IsInf", operands), true};
    if (function == "isfinite") return {negated(add("Or", {add("IsInf", operands), add("IsNaN", operands)})), true};
    if (function == "exp2") return {add("Pow", {number(2), x})};
    // These forms keep the precision of arguments near 0.
    if (function == "expm1") return {add("Mul", {add("Tanh", {add("Mul", {x, number(0.5)})}), above(add("Exp", {x}))})};
    if (function == "log1p") return {log_above(x)};
    if (function == "log2") return {add("Mul", {add("Log", {x}), number(1 / std::log(2.0))})};
    if (function == "log10") return {add("Mul", {add("Log", {x}), number(1 / std::log(10.0))})};
    if (function == "rsqrt") return {add("Reciprocal", {add("Sqrt", {x})})};
    if (function == "erfc") return {add("Sub", {number(1), add("Erf", {x})})};
    if (function == "trunc") return {truncated(x)};
    if (function == "fmod") return {add("Mod", operands, {{"fmod", int64_t{1}}})};
    if (function == "floordiv") return {add("Floor", {add("Div", operands)})};
    if (function == "remainder") return {remainder(operands)};
    if (function == "atan2") return {angle(x, y())};
    if (function == "copysign") {
      const Name size = add("Abs", {x});
      // -0 is negative, too.
      const Name inverse = add("Where", {add("Equal", {y(), number(0)}), add("Reciprocal", {y()}), y()});
      return {add("Where", {add("Less", {inverse, number(0)}), add("Neg", {size}), size})};
    }
    const Operator* const same = find_function(function);
    if (!same) throw Unsupported("ONNX has no operator for " + std::string(function));
    return {add(same->name, operands)};
  }

  Name above(const Name& x) { return add("Add", {x, number(1)}); }

  // Returns the remainder with the sign of the divisor, without the rounding of a quotient.
  Name remainder(const std::vector<Name>& operands) {
    const Name rest = add("Mod", operands, {{"fmod", int64_t{1}}}), zero = number(0);
    const Name has_other_sign = add("Xor", {add("Less", {rest, zero}), add("Less", {operands[1], zero})});
    const Name is_wrong = add("And", {negated(add("Equal", {rest, zero})), has_other_sign});
    return add("Where", {is_wrong, add("Add", {rest, operands[1]}), rest});
  }

  // Returns log(1 + x): for small x, the error of the sum is divided out.
  Name log_above(const Name& x) {
    const Name sum = above(x), log = add("Log", {sum});
    const Name exact = add("Div", {add("Mul", {log, x}), add("Sub", {sum, number(1)})});
    const Name small = add("Where", {add("Equal", {sum, number(1)}), x, exact});
    return add("Where", {add("Less", {add("Abs", {x}), number(0.5)}), small, log});
  }

  Name truncated(const Name& x) { return add("Mul", {add("Sign", {x}), add("Floor", {add("Abs", {x})})}); }

  Name power_of_two(const Name& exponent) {
    return out_.cast(add("Pow", {out_.number(float64, 2), out_.cast(exponent, held(), float64)}), float64, held());
  }

  // Returns the angle of a point.
  Name angle(const Name& y, const Name& x) {
    const double pi = 3.14159265358979323846;
    const Name near = add("Atan", {add("Div", {y, x})});
    const Name half_turn = add("Where", {add("Less", {y, number(0)}), number(-pi), number(pi)});
    const Name left = add("Where", {add("Less", {x, number(0)}), add("Add", {near, half_turn}), near});
    const Name upright = add("Mul", {add("Sign", {y}), number(pi / 2)});
    return add("Where", {add("Equal", {x, number(0)}), upright, left});
  }

  const ExportCall& call_;
  Exporter& out_;
  const Expression& expression_;
  const Branch& branch_;
  const DType wanted_, compute_;
  std::vector<std::optional<Part>> parts_ = std::vector<std::optional<Part>>(branch_.steps.size());
};

}  // namespace

std::vector<Name> export_expression(const ExportCall& call) { return Writer(call).run(); }

}  // namespace oneflow::onnx
