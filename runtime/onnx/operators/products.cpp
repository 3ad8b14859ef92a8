// Products of matrices.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

std::vector<Tensor> general_product(NodeCall& node) {
  const auto operand = [&](size_t position, const char* transposed) {
    const Tensor& matrix = node.tensor(position);
    return node.flag(transposed) ? transpose(matrix, 0, 1) : matrix;
  };
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  Tensor a = operand(0, "transA");
  if (node.opset() < 7 && a.rank() > 2) a = flatten(a, 1);
  const Tensor b = operand(1, "transB");
  // A weight of (outputs, inputs) with a bias per output is our linear map.
  if (node.flag("transB") && alpha == 1 && beta == 1 && node.has(2) && node.tensor(2).rank() == 1 &&
      node.tensor(2).size(0) == b.size(1))
    return {linear(a, node.tensor(1), node.tensor(2))};
  Tensor product = matmul(a, b);
  if (alpha != 1) product = mul(product, alpha).to(product.dtype());
  if (!node.has(2)) return {product};
  const Tensor& c = node.tensor(2);
  return {add(product, beta == 1 ? c : mul(c, beta).to(c.dtype()))};
}

std::vector<Tensor> equation(NodeCall& node) { return {einsum(node.text("equation"), node.tensors())}; }

constexpr std::array kOperators{
    Operator{"Einsum", 12, equation},
    Operator{"Gemm", 1, general_product},
    Operator{"MatMul", 1, nullptr, nullptr, "matmul"},
};

}  // namespace

std::span<const Operator> product_operators() { return kOperators; }

}  // namespace oneflow::onnx
