// Operators that compute each element by itself.
#include <array>
#include <cmath>
#include <limits>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

bool is_floating(DType dtype) { return dtype == float16 || dtype == bfloat16 || dtype == float32 || dtype == float64; }

bool is_unsigned(DType dtype) { return dtype == uint8 || dtype == uint16 || dtype == uint32 || dtype == uint64; }

// Aligns the second operand's dimensions with those of the first one from a dimension on, as opsets before 7 did.
Tensor aligned(const NodeCall& node, const Tensor& first, Tensor second) {
  if (node.opset() >= 7 || !node.flag("broadcast") || second.rank() == 0) return second;
  const int64_t axis =
      node.attribute("axis") ? wrap_axis(node.integer("axis", 0), first.rank()) : first.rank() - second.rank();
  for (int64_t i = axis + second.rank(); i < first.rank(); ++i) second = unsqueeze(second, -1);
  return second;
}

template <const char* name>
std::vector<Tensor> binary(NodeCall& node) {
  return {call_function(name, {node.tensor(0), aligned(node, node.tensor(0), node.tensor(1))})};
}

constexpr char kAdd[] = "add", kSub[] = "sub", kMul[] = "mul", kMaximum[] = "maximum", kMinimum[] = "minimum";

// Divides; integers are rounded towards zero.
std::vector<Tensor> divide(NodeCall& node) {
  const Tensor& a = node.tensor(0);
  const Tensor b = aligned(node, a, node.tensor(1));
  if (is_floating(a.dtype())) return {div(a, b)};
  return {is_unsigned(a.dtype()) || a.dtype() == bool_ ? floor_divide(a, b) : div(a, b, "trunc")};
}

std::vector<Tensor> modulo(NodeCall& node) {
  return {node.flag("fmod") ? fmod(node.tensor(0), node.tensor(1)) : remainder(node.tensor(0), node.tensor(1))};
}

// The result has the dtype of the base.
std::vector<Tensor> power(NodeCall& node) {
  const Tensor& base = node.tensor(0);
  const Tensor exponent = aligned(node, base, node.tensor(1));
  if (is_floating(exponent.dtype()) && !is_floating(base.dtype()))
    return {pow(base.to(float64), exponent).to(base.dtype())};
  return {pow(base, exponent).to(base.dtype())};
}

// Combines all operands, one by one.
template <const char* name>
Tensor folded(const NodeCall& node) {
  Tensor result = node.tensor(0);
  for (size_t i = 1; i < node.count(); ++i) result = call_function(name, {result, node.tensor(i)});
  return result;
}

template <const char* name>
std::vector<Tensor> fold(NodeCall& node) {
  return {folded<name>(node)};
}

std::vector<Tensor> average(NodeCall& node) { return {div(folded<kAdd>(node), static_cast<double>(node.count()))}; }

std::vector<Tensor> leaky(NodeCall& node) { return {leaky_relu(node.tensor(0), node.real("alpha", 0.01))}; }

std::vector<Tensor> parametric(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Tensor slope = node.tensor(1);
  // Before opset 9, a slope per channel is aligned with dimension 1.
  if (node.opset() < 9 && slope.rank() == 1 && x.rank() > 2)
    for (int64_t i = 2; i < x.rank(); ++i) slope = unsqueeze(slope, -1);
  return {where(lt(x, 0), mul(x, slope), x)};
}

std::vector<Tensor> exponential_linear(NodeCall& node) { return {elu(node.tensor(0), node.real("alpha", 1))}; }

std::vector<Tensor> scaled_exponential_linear(NodeCall& node) {
  const double alpha = node.real("alpha", 1.6732632423543772), gamma = node.real("gamma", 1.0507009873554805);
  const Tensor& x = node.tensor(0);
  return {where(gt(x, 0), mul(x, gamma), mul(expm1(minimum(x, zeros_like(x))), gamma * alpha))};
}

std::vector<Tensor> continuous_exponential_linear(NodeCall& node) {
  return {celu(node.tensor(0), node.real("alpha", 1))};
}

std::vector<Tensor> hard_sigmoid(NodeCall& node) {
  return {clamp(add(mul(node.tensor(0), node.real("alpha", 0.2)), node.real("beta", 0.5)), 0, 1)};
}

std::vector<Tensor> hard_swish(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  return {mul(x, clamp(add(mul(x, 1.0 / 6), 0.5), 0, 1))};
}

std::vector<Tensor> thresholded(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  return {where(gt(x, node.real("alpha", 1)), x, 0)};
}

std::vector<Tensor> shrink(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const double limit = node.real("lambd", 0.5), bias = node.real("bias", 0);
  return {where(lt(x, -limit), add(x, bias), where(gt(x, limit), sub(x, bias), 0)).to(x.dtype())};
}

std::vector<Tensor> gaussian_error_linear(NodeCall& node) {
  return {gelu(node.tensor(0), node.text("approximate", "none"))};
}

std::vector<Tensor> swish(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  return {mul(x, sigmoid(mul(x, node.real("alpha", 1))))};
}

std::vector<Tensor> clip(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  if (node.opset() < 11) {
    const auto bound = [&](const char* name) { return node.attribute(name) ? Number(node.real(name, 0)) : Number(); };
    if (!node.attribute("min") && !node.attribute("max")) return {x};
    return {clamp(x, bound("min"), bound("max"))};
  }
  if (!node.has(1) && !node.has(2)) return {x};
  // Where bounds are known, they are numbers of the call. The lower bound is applied first.
  const auto is_number = [&](size_t i) {
    return !node.has(i) || (node.value(i)->is_known() && !node.value(i)->varies);
  };
  if (is_number(1) && is_number(2)) {
    const auto bound = [&](size_t i) -> Number {
      if (!node.has(i)) return {};
      return is_floating(x.dtype()) ? Number(node.number(i)) : Number(node.integer(i));
    };
    return {clamp(x, bound(1), bound(2))};
  }
  Tensor result = x;
  if (node.has(1)) result = maximum(result, node.tensor(1));
  if (node.has(2)) result = minimum(result, node.tensor(2));
  return {result};
}

std::vector<Tensor> is_infinite(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const bool positive = node.flag("detect_positive", true), negative = node.flag("detect_negative", true);
  if (positive && negative) return {isinf(x)};
  if (positive) return {isposinf(x)};
  if (negative) return {isneginf(x)};
  return {zeros_like(x, bool_)};
}

std::vector<Tensor> cast_to(NodeCall& node) { return {node.tensor(0).to(node.dtype("to", float32), false, true)}; }

std::vector<Tensor> cast_like(NodeCall& node) { return {node.tensor(0).to(node.tensor(1).dtype(), false, true)}; }

std::vector<Tensor> bit_shift(NodeCall& node) {
  const std::string direction = node.text("direction");
  if (direction == "LEFT") return {bitwise_left_shift(node.tensor(0), node.tensor(1))};
  if (direction == "RIGHT") return {bitwise_right_shift(node.tensor(0), node.tensor(1))};
  throw InvalidArgument("direction must be LEFT or RIGHT");
}

std::vector<Tensor> bias_gelu(NodeCall& node) { return {gelu(add(node.tensor(0), node.tensor(1)))}; }

constexpr std::array kOperators{
    ours("Abs", "abs"),
    ours("Acos", "acos"),
    ours("Acosh", "acosh"),
    ours("Asin", "asin"),
    ours("Asinh", "asinh"),
    ours("Atan", "atan"),
    ours("Atanh", "atanh"),
    ours("BitwiseAnd", "bitwise_and", 18),
    ours("BitwiseNot", "bitwise_not", 18),
    ours("BitwiseOr", "bitwise_or", 18),
    ours("BitwiseXor", "bitwise_xor", 18),
    ours("Ceil", "ceil"),
    ours("Cos", "cos"),
    ours("Cosh", "cosh"),
    ours("Erf", "erf"),
    ours("Exp", "exp"),
    ours("Floor", "floor"),
    ours("IsNaN", "isnan"),
    ours("Log", "log"),
    ours("Mish", "mish", 18),
    ours("Relu", "relu"),
    ours("Sigmoid", "sigmoid"),
    ours("Sign", "sign"),
    ours("Sin", "sin"),
    ours("Sinh", "sinh"),
    ours("Softplus", "softplus"),
    ours("Softsign", "softsign"),
    ours("Sqrt", "sqrt"),
    ours("Tan", "tan"),
    ours("Tanh", "tanh"),
    ours("Where", "where"),
    Operator{"Add", 1, binary<kAdd>},
    Operator{"BitShift", 11, bit_shift},
    Operator{"Cast", 1, cast_to},
    Operator{"CastLike", 15, cast_like},
    Operator{"Celu", 12, continuous_exponential_linear},
    Operator{"Clip", 1, clip},
    Operator{"Div", 1, divide},
    Operator{"Elu", 1, exponential_linear},
    Operator{"Gelu", 20, gaussian_error_linear},
    Operator{"Gelu", 1, gaussian_error_linear, nullptr, nullptr, false, "com.microsoft"},
    Operator{"BiasGelu", 1, bias_gelu, nullptr, nullptr, false, "com.microsoft"},
    Operator{"HardSigmoid", 1, hard_sigmoid},
    Operator{"HardSwish", 14, hard_swish},
    Operator{"IsInf", 10, is_infinite},
    Operator{"LeakyRelu", 1, leaky},
    Operator{"Max", 1, fold<kMaximum>},
    Operator{"Mean", 1, average},
    Operator{"Min", 1, fold<kMinimum>},
    Operator{"Mod", 10, modulo},
    Operator{"Mul", 1, binary<kMul>},
    ours("Neg", "neg"),
    Operator{"PRelu", 1, parametric},
    Operator{"Pow", 1, power},
    ours("Reciprocal", "reciprocal"),
    ours("Round", "round", 11),
    Operator{"Selu", 1, scaled_exponential_linear},
    Operator{"Shrink", 9, shrink},
    Operator{"Sub", 1, binary<kSub>},
    Operator{"Sum", 1, fold<kAdd>},
    Operator{"Swish", 24, swish},
    Operator{"ThresholdedRelu", 1, thresholded},
};

}  // namespace

std::span<const Operator> elementwise_operators() { return kOperators; }

}  // namespace oneflow::onnx
