// The scalar expressions of elementwise operators, as data.
#ifndef ONEFLOW_ONNX_EXPRESSIONS_H_
#define ONEFLOW_ONNX_EXPRESSIONS_H_

#include <cstdint>
#include <span>

namespace oneflow::onnx {

// A step of an expression: a function of earlier steps, an argument of the operator, or a number.
struct Step {
  const char* function = nullptr;
  int16_t operands[3] = {};  // the numbers of earlier steps
  int16_t operand_count = 0;
  int16_t argument = -1;  // of a step without a function; also of "given", which tells whether it is not None
  bool is_truth = false;  // whether the argument is a mask, which is not converted
  double number = 0;      // of a step without a function and an argument
};

// The expressions of the results for one value of the attribute that an operator matches on.
struct Branch {
  const char* value;  // "none" and "given" for an optional argument, "true" and "false" for a bool; null: no attribute
  std::span<const Step> steps;
  std::span<const int16_t> results;  // the numbers of steps
};

// What the type follows from in which an expression is computed.
enum class Compute : int8_t { kResult, kOperands, kBool, kFloating };

struct Expression {
  const char* op;
  int16_t match;  // the position of the attribute; -1 for operators with one branch
  Compute compute;
  std::span<const Branch> branches;
};

// The expressions of all elementwise operators.
std::span<const Expression> expressions();

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_EXPRESSIONS_H_
