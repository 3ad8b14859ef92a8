// Attention, whose body depends on how large the operands are.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

// Returns the numbers from 0 up to a size, along dimension 0 or 1 of a matrix.
Name positions(const ExportCall& call, const of_graph_integer& size, int64_t dim) {
  const Name range = call.out().add("Range", {call.out().integer(0), call.out().scalar(size), call.out().integer(1)});
  return call.out().unsqueeze(range, {1 - dim});
}

std::vector<Name> attended(const ExportCall& call) {
  if (call.number("dropout_p") != 0) throw Unsupported("it draws random numbers");
  if (call.flag("enable_gqa")) throw Unsupported("groups of heads");
  const int64_t rank = call.rank("query");
  if (call.rank("key") != rank || rank < 2) throw Unsupported("operands of several ranks");
  const DType dtype = is_half(call.result_dtype()) ? float32 : call.result_dtype();
  const auto last = static_cast<size_t>(rank - 1);
  const int64_t features = known(call.sizes("query")[last], "the number of features");
  const double scale = call.has("scale") ? call.number("scale") : 1 / std::sqrt(static_cast<double>(features));
  Dims order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[last], order[last - 1]);
  const Name query = call.out().add("Mul", {call.tensor("query", dtype), call.out().number(dtype, scale)});
  const Name key = call.out().add("Transpose", {call.tensor("key", dtype)}, {{"perm", order}});
  Name scores = call.out().add("MatMul", {query, key});
  const Name least = call.out().number(dtype, -std::numeric_limits<double>::infinity());
  if (call.flag("is_causal")) {
    const Name is_later = call.out().add(
        "Less", {positions(call, call.sizes("query")[last - 1], 0), positions(call, call.sizes("key")[last - 1], 1)});
    scores = call.out().add("Where", {is_later, least, scores});
  }
  if (call.has("attn_mask")) {
    scores = call.dtype("attn_mask") == bool_ ? call.out().add("Where", {call.tensor("attn_mask"), scores, least})
                                              : call.out().add("Add", {scores, call.tensor("attn_mask", dtype)});
  }
  const Name weights = call.out().add("Softmax", {scores}, {{"axis", rank - 1}});
  const Name result = call.out().add("MatMul", {weights, call.tensor("value", dtype)});
  return {call.out().cast(result, dtype, call.result_dtype())};
}

constexpr std::array kOperators{ExportedOperator{"scaled_dot_product_attention", attended}};

}  // namespace

std::span<const ExportedOperator> exported_attention() { return kOperators; }

}  // namespace oneflow::onnx
