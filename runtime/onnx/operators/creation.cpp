// Operators that make tensors.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

std::vector<Tensor> constant(NodeCall& node) {
  const Sizes scalar;
  if (node.attribute("value")) return {node.tensor_attribute("value")};
  if (node.attribute("value_float"))
    return {Tensor::copy_of(std::vector<float>{static_cast<float>(node.real("value_float", 0))}, scalar)};
  if (node.attribute("value_int")) return {Tensor::copy_of(Sizes{node.integer("value_int", 0)}, scalar)};
  if (const auto reals = node.reals("value_floats"))
    return {Tensor::copy_of(*reals, {static_cast<int64_t>(reals->size())})};
  if (const auto integers = node.integers("value_ints"))
    return {Tensor::copy_of(*integers, {static_cast<int64_t>(integers->size())})};
  if (node.attribute("sparse_value")) throw Unsupported("sparse tensors are not supported");
  throw Unsupported("tensors of strings are not supported");
}

std::vector<Tensor> constant_of_shape(NodeCall& node) {
  const Sizes sizes = node.integers(0);
  const Tensor value = node.computed([&] { return node.tensor_attribute("value"); });
  if (value.is_empty_handle()) return {zeros(sizes, float32)};
  return {full(sizes, node.computed([&] { return reshape(value, Sizes{}); }), value.dtype())};
}

std::vector<Tensor> identity_matrix(NodeCall& node) {
  const Tensor x = node.shape_source(0);
  if (x.rank() != 2) throw ShapeError("the input must have rank 2");
  const int64_t rows = x.size(0), columns = x.size(1), k = node.integer("k", 0);
  const DType dtype = node.dtype("dtype", x.dtype());
  const Tensor row = reshape(arange(rows, int64), {rows, 1}), column = reshape(arange(columns, int64), {1, columns});
  return {eq(add(row, k), column).to(dtype)};
}

std::vector<Tensor> range_of(NodeCall& node) {
  const DType dtype = node.known(0).dtype();
  if (dtype == float32 || dtype == float64 || dtype == float16 || dtype == bfloat16)
    return {arange(node.number(0), node.number(1), node.number(2), dtype)};
  return {arange(node.integer(0), node.integer(1), node.integer(2), dtype)};
}

std::vector<Tensor> normal_numbers(NodeCall& node) {
  const Sizes sizes = node.count() ? Sizes(node.shape_source(0).sizes().begin(), node.shape_source(0).sizes().end())
                                   : node.integers("shape", {});
  const DType dtype = node.dtype("dtype", node.count() ? node.shape_source(0).dtype() : float32);
  return {add(mul(randn(sizes, dtype), node.real("scale", 1)), node.real("mean", 0))};
}

std::vector<Tensor> uniform_numbers(NodeCall& node) {
  const Sizes sizes = node.count() ? Sizes(node.shape_source(0).sizes().begin(), node.shape_source(0).sizes().end())
                                   : node.integers("shape", {});
  const DType dtype = node.dtype("dtype", node.count() ? node.shape_source(0).dtype() : float32);
  const double low = node.real("low", 0), high = node.real("high", 1);
  return {add(mul(rand(sizes, dtype), high - low), low)};
}

std::vector<Tensor> bernoulli_numbers(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  return {bernoulli(x).to(node.dtype("dtype", x.dtype()))};
}

std::vector<Tensor> multinomial_numbers(NodeCall& node) {
  return {
      multinomial(softmax(node.tensor(0), -1), node.integer("sample_size", 1), true).to(node.dtype("dtype", int32))};
}

constexpr Operator random(std::string_view name, int64_t since, Converter convert) {
  return {name, since, convert, nullptr, nullptr, true};
}

constexpr std::array kOperators{
    Operator{"Constant", 1, constant},           Operator{"ConstantOfShape", 9, constant_of_shape},
    Operator{"EyeLike", 9, identity_matrix},     Operator{"Range", 11, range_of},
    random("Bernoulli", 15, bernoulli_numbers),  random("Multinomial", 7, multinomial_numbers),
    random("RandomNormal", 1, normal_numbers),   random("RandomNormalLike", 1, normal_numbers),
    random("RandomUniform", 1, uniform_numbers), random("RandomUniformLike", 1, uniform_numbers),
};

}  // namespace

std::span<const Operator> creation_operators() { return kOperators; }

}  // namespace oneflow::onnx
