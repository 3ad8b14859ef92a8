// Computes multi-head attention with einsum, using the C++ header.
#include <cmath>
#include <iostream>
#include <oneflow/oneflow.hpp>

namespace flow = oneflow;

// Returns the attention of queries, keys and values, each of shape [batch, head, position, width]. The result has the
// positions of q and the width of v.
static flow::Tensor attend(const flow::Tensor& q, const flow::Tensor& k, const flow::Tensor& v) {
  const flow::Tensor scores = flow::einsum("bhqd,bhkd->bhqk", {q, k}) / std::sqrt(static_cast<double>(q.size(-1)));
  return flow::einsum("bhqk,bhkd->bhqd", {scores.softmax(-1), v});
}

int main() {
  flow::manual_seed(0);
  const flow::Tensor q = flow::randn({2, 4, 8, 16}), k = flow::randn({2, 4, 8, 16});

  // The weights of each query add up to 1, so values of ones give ones.
  const flow::Tensor ones = flow::ones({2, 4, 8, 16});
  const double furthest = (attend(q, k, ones) - 1).abs().max().item<double>();
  std::cout << "furthest from 1: " << (furthest < 1e-5 ? "less than 0.00001" : std::to_string(furthest)) << "\n";

  // If each query matches one key strongly, the result is the row of values of that key.
  const flow::Tensor keys = flow::eye(3).reshape({1, 1, 3, 3}) * 100;
  const flow::Tensor values = flow::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}).reshape({1, 1, 3, 2});
  std::cout << attend(keys.at({flow::ellipsis, flow::Slice{1, 3}, flow::Slice{}}), keys, values).round() << "\n";

  try {
    attend(q, keys, values);
  } catch (const flow::ShapeError& error) {
    std::cout << error.what() << "\n";
  }
}
