#include "graph/passes/matcher.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tensor/transfer.h"

namespace oneflow::graph {

namespace {

// The precision with which models store numbers such as 1/6.
constexpr double kStored = 1e-6;

bool is_number(const Argument& argument) {
  return argument.kind == OF_VALUE_BOOL || argument.kind == OF_VALUE_UINT || argument.kind == OF_VALUE_FLOAT ||
         (argument.kind == OF_VALUE_INT && argument.sizes[0].is_constant());
}

double number_of(const Argument& argument) {
  return argument.kind == OF_VALUE_INT ? static_cast<double>(argument.sizes[0].constant) : to_double(argument.number);
}

bool is_about(double number, double literal, double precision) {
  return number == literal || std::abs(number - literal) <= precision * std::abs(literal);
}

// Returns whether a variable can stand for an argument that is a number.
bool takes_number(const oneflow::Argument& variable, const Argument& argument) {
  if (variable.is_list) return false;
  switch (variable.type) {
    case ArgumentType::kTensor:
      return false;
    case ArgumentType::kNumber:
    case ArgumentType::kOperand:
      return is_number(argument);
    case ArgumentType::kFloat:
      return argument.kind == OF_VALUE_FLOAT;
    case ArgumentType::kBool:
      return argument.kind == OF_VALUE_BOOL;
    default:
      return argument.kind == OF_VALUE_INT;
  }
}

}  // namespace

// One way to match a pattern: with the operands of some calls exchanged.
class Pattern::Attempt {
 public:
  Attempt(const Pattern& pattern, const Editor& editor, uint32_t exchanged)
      : pattern_(pattern),
        editor_(editor),
        exchanged_(exchanged),
        match_{std::vector<int>(pattern.calls_.size(), -1), std::vector<Argument>(pattern.variables_.size())} {}

  std::optional<Match> run(int last) {
    if (!matches(pattern_.calls_.size() - 1, last) || !is_closed()) return {};
    return std::move(match_);
  }

 private:
  bool matches(size_t call, int number) {
    int& known = match_.calls[call];
    if (known >= 0) return known == number;
    const Node& node = editor_.node(number);
    if (node.op != pattern_.ops_[call] || node.writes || node.results.size() != 1 ||
        editor_.definition(node.results[0]) != number || !editor_.is_fixed(node.results[0]))
      return false;
    known = number;
    const std::span<const PatternArgument> arguments = pattern_.calls_[call].arguments;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!matches(arguments[i], node.arguments[pattern_.position(call, i, exchanged_)])) return false;
    return true;
  }

  bool matches(const PatternArgument& wanted, const Argument& argument) {
    if (wanted.variable >= 0) return binds(static_cast<size_t>(wanted.variable), argument);
    if (!wanted.items.empty()) return are_items(wanted.items, argument);
    if (wanted.call < 0) return is_literal(wanted.literal, argument);
    if (argument.kind != OF_VALUE_TENSOR) return false;
    const int definition = editor_.definition(argument.values[0]);
    return definition >= 0 && matches(static_cast<size_t>(wanted.call), definition);
  }

  // Returns whether an argument is a list of tensors that match one by one.
  bool are_items(std::span<const PatternArgument> wanted, const Argument& argument) {
    const auto is_item = [&](const PatternArgument& each, ValueId value) {
      return value != kNoValue && matches(each, Argument{.kind = OF_VALUE_TENSOR, .values = {value}});
    };
    return argument.kind == OF_VALUE_TENSOR_LIST && std::ranges::equal(wanted, argument.values, is_item);
  }

  // Makes a variable stand for an argument, if it can.
  bool binds(size_t number, const Argument& argument) {
    Argument& bound = match_.variables[number];
    if (bound.kind != OF_VALUE_ABSENT) return bound == argument;
    const oneflow::Argument& variable = pattern_.variables_[number];
    const bool is_constant = pattern_.constants_ >> number & 1;
    const bool is_constant_number = is_constant && variable.type == ArgumentType::kTensor && is_number(argument);
    if (argument.kind == OF_VALUE_NONE) {
      if (!variable.is_optional) return false;
    } else if (argument.kind == OF_VALUE_TENSOR) {
      const ValueId value = argument.values[0];
      if (!variable.is_tensor() || variable.is_list || !editor_.is_fixed(value)) return false;
      if (is_constant && !editor_.constant(value)) return false;
    } else if (!is_constant_number && !takes(variable, argument)) {
      return false;
    }
    bound = argument;
    return true;
  }

  static bool takes(const oneflow::Argument& variable, const Argument& argument) {
    switch (argument.kind) {
      case OF_VALUE_INT_LIST:
        return variable.is_list && !variable.is_tensor();
      case OF_VALUE_STRING:
        return variable.type == ArgumentType::kString;
      case OF_VALUE_DTYPE:
        return variable.type == ArgumentType::kDType;
      case OF_VALUE_DEVICE:
        return variable.type == ArgumentType::kDevice;
      case OF_VALUE_TENSOR_LIST:
      case OF_VALUE_DEVICE_LIST:
        return false;
      default:
        return takes_number(variable, argument);
    }
  }

  // Returns whether an argument is a literal. A constant with one element stands for a number.
  bool is_literal(const of_value& literal, const Argument& argument) const {
    const Argument wanted = argument_of(literal);
    if (wanted == argument) return true;
    if (!is_number(wanted)) return false;
    if (is_number(argument)) return is_about(number_of(argument), number_of(wanted), pattern_.precision_);
    if (argument.kind != OF_VALUE_TENSOR) return false;
    const TensorRef& tensor = editor_.constant(argument.values[0]);
    return tensor && tensor->count() == 1 && is_about(to_double(item(*tensor)), number_of(wanted), pattern_.precision_);
  }

  // Returns whether what the calls but the last compute is needed by matched calls only.
  bool is_closed() const {
    for (size_t i = 0; i + 1 < match_.calls.size(); ++i) {
      const ValueId value = editor_.node(match_.calls[i]).results[0];
      int uses = 0;
      for (size_t k = 0; k < match_.calls.size(); ++k) {
        const auto is_first = std::find(match_.calls.begin(), match_.calls.end(), match_.calls[k]);
        if (is_first != match_.calls.begin() + static_cast<std::ptrdiff_t>(k)) continue;
        for_each_needed(editor_.node(match_.calls[k]), [&](ValueId each) { uses += each == value; });
      }
      if (uses != editor_.use_count(value)) return false;
    }
    return true;
  }

  const Pattern& pattern_;
  const Editor& editor_;
  const uint32_t exchanged_;
  Match match_;
};

Pattern::Pattern(std::span<const PatternCall> calls, std::span<const oneflow::Argument> variables, uint32_t constants,
                 bool is_exact)
    : calls_(calls), variables_(variables), constants_(constants), precision_(is_exact ? 0 : kStored) {
  for (size_t i = 0; i < calls.size(); ++i) {
    ops_.push_back(find_operator(calls[i].op));
    if (!ops_.back()) fail(OF_INTERNAL_ERROR, "there is no operator '%s'", calls[i].op);
    if (ops_.back()->schema().commutes) commuting_.push_back(i);
  }
}

std::optional<Match> Pattern::find(const Editor& editor, int call) const {
  if (editor.node(call).op != ops_.back()) return {};
  for (uint32_t exchanged = 0; exchanged < uint32_t{1} << commuting_.size(); ++exchanged) {
    if (!has_operands(editor, editor.node(call), exchanged)) continue;
    if (std::optional<Match> found = Attempt(*this, editor, exchanged).run(call)) return found;
  }
  return {};
}

// Returns whether the operands of the last call are results of the right operators, which rules out most attempts.
bool Pattern::has_operands(const Editor& editor, const Node& last, uint32_t exchanged) const {
  const std::span<const PatternArgument> wanted = calls_.back().arguments;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].call < 0) continue;
    const Argument& argument = last.arguments[position(calls_.size() - 1, i, exchanged)];
    const int definition = argument.kind == OF_VALUE_TENSOR ? editor.definition(argument.values[0]) : -1;
    if (definition < 0 || editor.node(definition).op != ops_[static_cast<size_t>(wanted[i].call)]) return false;
  }
  return true;
}

size_t Pattern::position(size_t call, size_t argument, uint32_t exchanged) const {
  const auto found = std::find(commuting_.begin(), commuting_.end(), call);
  const bool is_exchanged = found != commuting_.end() && (exchanged >> (found - commuting_.begin()) & 1);
  return is_exchanged && argument < 2 ? 1 - argument : argument;
}

}  // namespace oneflow::graph
