// The operators of ONNX that can be loaded.
#ifndef ONEFLOW_ONNX_OPERATORS_H_
#define ONEFLOW_ONNX_OPERATORS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/node_call.h"

namespace oneflow::onnx {

// Calls our operators for a node, and returns its results.
using Converter = std::vector<Tensor> (*)(NodeCall&);
// The same where results may be known though operands are not, or where the node has graphs of its own.
using ValueConverter = std::vector<ValueRef> (*)(NodeCall&);

struct Operator {
  std::string_view name;
  int64_t since;  // the opset of which this form is
  Converter convert = nullptr;
  ValueConverter convert_values = nullptr;
  const char* function = nullptr;  // the operator of ours that takes the same operands, if there is one
  bool draws_numbers = false;
  std::string_view domain = "";
};

// Returns the form of an operator that takes the operands of one of ours.
constexpr Operator ours(const char* name, const char* function, int64_t since = 1) {
  return {name, since, nullptr, nullptr, function};
}

// Returns the form of an operator in an opset; null if there is none.
const Operator* find_operator(std::string_view domain, std::string_view name, int64_t opset);
// Returns the operator that takes the same operands as one of ours; null if there is none.
const Operator* find_function(std::string_view function);
// Returns what helps with an operator that cannot be loaded: the opset that has it, or one that is spelled alike; an
// empty text for others.
std::string suggestion(std::string_view domain, std::string_view name, int64_t opset);

// The operators by family.
std::span<const Operator> elementwise_operators();
std::span<const Operator> logic_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> product_operators();
std::span<const Operator> window_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> control_operators();
std::span<const Operator> creation_operators();
std::span<const Operator> image_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> loss_operators();
std::span<const Operator> attention_operators();

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_OPERATORS_H_
