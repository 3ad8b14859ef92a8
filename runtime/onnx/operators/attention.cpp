// Attention, and the embedding of positions.
#include <array>
#include <cmath>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

// Returns (batch, heads, time, size) of a tensor that is that, or (batch, time, heads x size).
Tensor by_heads(const Tensor& x, int64_t heads) {
  if (x.rank() == 4) return x;
  if (heads < 1) throw InvalidArgument("it must have the number of heads for inputs of rank 3");
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

// Returns what is added to the scores: minus infinity where a query must not see a key. Empty if all are seen.
Tensor bias_of(const NodeCall& node, const Tensor& query, const Tensor& key, int64_t past) {
  const int64_t rows = query.size(2), columns = key.size(2);
  const DType dtype = query.dtype();
  Tensor bias;
  const auto add_bias = [&](const Tensor& more) { bias = bias.is_empty_handle() ? more : add(bias, more); };
  const auto add_allowed = [&](const Tensor& allowed) { add_bias(where(allowed, 0, -INFINITY).to(dtype)); };
  if (node.has(3)) {
    Tensor mask = node.tensor(3);
    if (mask.size(-1) < columns) {
      const Number outside = mask.dtype() == bool_ ? Number(false) : Number(-INFINITY);
      mask = pad(mask, {0, columns - mask.size(-1)}, "constant", outside);
    }
    if (mask.dtype() == bool_)
      add_allowed(mask);
    else
      add_bias(mask);
  }
  const Tensor column = arange(columns, int64, query.device());
  // How far keys reach before the first query, per batch where sequences have lengths of their own.
  const Tensor lengths = node.has(6) ? reshape(node.tensor(6), {-1, 1, 1, 1}) : Tensor();
  Tensor row = unsqueeze(arange(rows, int64, query.device()), 1);
  row = lengths.is_empty_handle() || past > 0 ? add(row, past) : add(row, sub(lengths, rows));
  if (node.flag("is_causal")) add_allowed(le(column, row));
  const int64_t left = node.integer("left_window_size", -1), right = node.integer("right_window_size", -1);
  if (left >= 0) add_allowed(le(sub(row, column), left));
  if (right >= 0) add_allowed(le(sub(column, row), right));
  if (!lengths.is_empty_handle()) add_allowed(lt(column, lengths));
  return bias;
}

std::vector<Tensor> attend(NodeCall& node) {
  const bool is_flat = node.tensor(0).rank() == 3;
  Tensor query = by_heads(node.tensor(0), node.integer("q_num_heads", 0));
  Tensor key = by_heads(node.tensor(1), node.integer("kv_num_heads", 0));
  Tensor value = by_heads(node.tensor(2), node.integer("kv_num_heads", 0));
  int64_t past = 0;
  if (node.has(4)) {
    past = node.tensor(4).size(2);
    key = cat({node.tensor(4), key}, 2);
  }
  if (node.has(5)) value = cat({node.tensor(5), value}, 2);
  const Tensor present_key = key, present_value = value;
  const int64_t groups = query.size(1) / key.size(1);
  if (groups > 1) {
    key = repeat_interleave(key, groups, 1);
    value = repeat_interleave(value, groups, 1);
  }
  const DType dtype = query.dtype();
  const Tensor bias = bias_of(node, query, key, past);
  // Both factors get the root of the scale, as the operator is defined.
  const double root = std::sqrt(node.real("scale", 1 / std::sqrt(static_cast<double>(query.size(-1)))));
  Tensor scores = matmul(mul(query, root), transpose(mul(key, root), 2, 3));
  const int64_t shown = node.integer("qk_matmul_output_mode", 0);
  Tensor matrix = scores;
  if (const double cap = node.real("softcap", 0); cap > 0) scores = mul(tanh(div(scores, cap)), cap);
  if (shown == 1) matrix = scores;
  if (!bias.is_empty_handle()) scores = add(scores, bias);
  if (shown == 2) matrix = scores;
  Tensor weights = softmax(scores.to(node.dtype("softmax_precision", dtype)), -1).to(dtype);
  if (!bias.is_empty_handle()) {
    // A query that sees no key gets zeros.
    const Tensor sees_none = eq(amax(bias, -1, true), -INFINITY);
    weights = where(sees_none, 0, weights).to(dtype);
  }
  if (shown == 3) matrix = weights;
  Tensor result = matmul(weights, value);
  const int64_t rows = query.size(2);
  if (is_flat) result = reshape(transpose(result, 1, 2), {result.size(0), rows, -1});
  return {result, present_key, present_value, matrix};
}

std::vector<Tensor> rotate_positions(NodeCall& node) {
  const Tensor& given = node.tensor(0);
  const bool is_flat = given.rank() == 3;
  const Tensor x = by_heads(given, node.integer("num_heads", 0));  // (batch, heads, time, size)
  const int64_t size = x.size(3),
                rotated = node.integer("rotary_embedding_dim", 0) ? node.integer("rotary_embedding_dim", 0) : size;
  Tensor cosines = node.tensor(1), sines = node.tensor(2);
  if (node.has(3)) {
    const Tensor& places = node.tensor(3);
    const auto at = [&](const Tensor& table) {
      return reshape(index_select(table, 0, reshape(places, {-1})), {places.size(0), places.size(1), table.size(1)});
    };
    cosines = at(cosines);
    sines = at(sines);
  }
  cosines = unsqueeze(cosines, 1);
  sines = unsqueeze(sines, 1);
  const Tensor part = slice(x, 3, 0, rotated);
  const bool interleaved = node.flag("interleaved");
  const Tensor first = interleaved ? slice(part, 3, 0, rotated, 2) : slice(part, 3, 0, rotated / 2);
  const Tensor second = interleaved ? slice(part, 3, 1, rotated, 2) : slice(part, 3, rotated / 2, rotated);
  const Tensor real = sub(mul(first, cosines), mul(second, sines)),
               imaginary = add(mul(first, sines), mul(second, cosines));
  Tensor result = interleaved ? reshape(stack({real, imaginary}, -1), Sizes(part.sizes().begin(), part.sizes().end()))
                              : cat({real, imaginary}, -1);
  if (rotated < size) result = cat({result, slice(x, 3, rotated, size)}, 3);
  if (!is_flat) return {result};
  return {reshape(transpose(result, 1, 2), Sizes(given.sizes().begin(), given.sizes().end()))};
}

constexpr std::array kOperators{
    Operator{"Attention", 23, attend},
    Operator{"RotaryEmbedding", 23, rotate_positions},
};

}  // namespace

std::span<const Operator> attention_operators() { return kOperators; }

}  // namespace oneflow::onnx
