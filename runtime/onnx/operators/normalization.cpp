// Normalizations and softmax.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/arranging.h"
#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

std::vector<Tensor> normalized_batch(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const double eps = node.real("epsilon", 1e-5), momentum = node.real("momentum", 0.9);
  const bool trains =
      node.opset() >= 14 ? node.flag("training_mode") : node.wants(1) && node.opset() >= 7 && node.wants(2);
  const Tensor &weight = node.tensor(1), &bias = node.tensor(2), &mean_of_model = node.tensor(3),
               &variance = node.tensor(4);
  if (!trains) return {batch_norm(x, mean_of_model, variance, weight, bias, false, 1 - momentum, eps)};
  Sizes dims{0};
  for (int64_t dim = 2; dim < x.rank(); ++dim) dims.push_back(dim);
  const Tensor batch_mean = mean(x, dims), batch_variance = var(x, dims, false);
  const auto moved = [&](const Tensor& old, const Tensor& now) {
    return add(mul(old, momentum), mul(now, 1 - momentum)).to(old.dtype());
  };
  return {batch_norm(x, batch_mean, batch_variance, weight, bias, false, 1 - momentum, eps),
          moved(mean_of_model, batch_mean), moved(variance, batch_variance)};
}

std::vector<Tensor> normalized_instance(NodeCall& node) {
  return {instance_norm(node.tensor(0), node.tensor(1), node.tensor(2), node.real("epsilon", 1e-5))};
}

std::vector<Tensor> normalized_layer(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", -1), x.rank());
  const double eps = node.real("epsilon", 1e-5);
  const Sizes shape(x.sizes().begin() + axis, x.sizes().end());
  const Tensor &scale = node.tensor(1), bias = node.optional_tensor(2);
  const auto fits = [&](const Tensor& tensor) {
    return tensor.is_empty_handle() || Sizes(tensor.sizes().begin(), tensor.sizes().end()) == shape;
  };
  std::vector<Tensor> results;
  if (fits(scale) && fits(bias)) {
    results.push_back(layer_norm(x, shape, scale, bias, eps));
  } else {
    results.push_back(mul(layer_norm(x, shape, Tensor(), Tensor(), eps), scale));
    if (node.has(2)) results[0] = add(results[0], bias);
  }
  if (!node.wants(1) && !node.wants(2)) return results;
  Sizes dims;
  for (int64_t dim = axis; dim < x.rank(); ++dim) dims.push_back(dim);
  const Tensor precise = x.dtype() == float64 ? x : x.to(float32);
  results.push_back(mean(precise, dims, true));
  results.push_back(rsqrt(add(var(precise, dims, false, true), eps)));
  return results;
}

std::vector<Tensor> normalized_root_mean_square(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", -1), x.rank());
  const Sizes shape(x.sizes().begin() + axis, x.sizes().end());
  return {mul(rms_norm(x, shape, Tensor(), node.real("epsilon", 1e-5)), node.tensor(1))};
}

std::vector<Tensor> normalized_group(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t groups = node.required_integer("num_groups");
  const double eps = node.real("epsilon", 1e-5);
  Tensor scale = node.tensor(1), bias = node.tensor(2);
  // Before opset 21, a scale per group holds for all channels of it.
  if (scale.size(0) != x.size(1)) {
    scale = reshape(broadcast_to(unsqueeze(scale, 1), {groups, x.size(1) / groups}), {-1});
    bias = reshape(broadcast_to(unsqueeze(bias, 1), {groups, x.size(1) / groups}), {-1});
  }
  return {group_norm(x, groups, scale, bias, eps)};
}

std::vector<Tensor> normalized_response(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t size = node.required_integer("size");
  const double alpha = node.real("alpha", 1e-4), beta = node.real("beta", 0.75), bias = node.real("bias", 1);
  if (size % 2 == 1) return {local_response_norm(x, size, alpha, beta, bias)};
  // The window of an even size begins nearer.
  const Tensor squares = mul(x, x);
  const Tensor padded = pad_dim(squares, 1, (size - 1) / 2, size - 1 - (size - 1) / 2);
  Tensor sum_of_window = slice(padded, 1, 0, x.size(1));
  for (int64_t i = 1; i < size; ++i) sum_of_window = add(sum_of_window, slice(padded, 1, i, i + x.size(1)));
  return {div(x, pow(add(mul(sum_of_window, alpha / static_cast<double>(size)), bias), beta))};
}

std::vector<Tensor> normalized_length(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", -1), x.rank());
  const Tensor length = norm(x, static_cast<double>(node.integer("p", 2)), axis, true);
  return {where(eq(length, 0), zeros_like(x), div(x, length))};
}

std::vector<Tensor> normalized_mean_variance(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const Sizes axes = node.integers("axes", {0, 2, 3});
  const Tensor centered = sub(x, mean(x, axes, true));
  return {div(centered, add(sqrt(mean(mul(centered, centered), axes, true)), 1e-9))};
}

// Before opset 13, all dimensions from the axis on are normalized as one.
template <Tensor (*function)(const Tensor& x, int64_t dim)>
std::vector<Tensor> over_dims(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  if (node.opset() >= 13) return {function(x, wrap_axis(node.integer("axis", -1), x.rank()))};
  const int64_t axis = node.integer("axis", 1) == x.rank() ? x.rank() : wrap_axis(node.integer("axis", 1), x.rank());
  if (axis == x.rank() - 1) return {function(x, axis)};
  const Sizes shape(x.sizes().begin(), x.sizes().end());
  return {reshape(function(flatten(x, axis), axis), shape)};
}

Tensor softmax_over(const Tensor& x, int64_t dim) { return softmax(x, dim); }
Tensor log_softmax_over(const Tensor& x, int64_t dim) { return log_softmax(x, dim); }
Tensor hardmax_over(const Tensor& x, int64_t dim) { return scatter(zeros_like(x), dim, argmax(x, dim, true), 1); }

std::vector<Tensor> dropped_out(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const double ratio = node.opset() < 12 ? node.real("ratio", 0.5) : node.number_or(1, 0.5);
  const bool trains = node.opset() >= 12 && node.has(2) && node.known(2).item<bool>();
  if (!trains || ratio == 0) return {x, node.wants(1) ? ones_like(x, node.opset() < 10 ? x.dtype() : bool_) : Tensor()};
  const Tensor mask = bernoulli(full_like(x, 1 - ratio));
  return {mul(mul(x, mask), 1 / (1 - ratio)), mask.to(bool_)};
}

constexpr std::array kOperators{
    Operator{"BatchNormalization", 1, normalized_batch},
    Operator{"Dropout", 1, dropped_out},
    Operator{"GroupNormalization", 18, normalized_group},
    Operator{"Hardmax", 1, over_dims<hardmax_over>},
    Operator{"InstanceNormalization", 1, normalized_instance},
    Operator{"LRN", 1, normalized_response},
    Operator{"LayerNormalization", 17, normalized_layer},
    Operator{"LogSoftmax", 1, over_dims<log_softmax_over>},
    Operator{"LpNormalization", 1, normalized_length},
    Operator{"MeanVarianceNormalization", 9, normalized_mean_variance},
    Operator{"RMSNormalization", 23, normalized_root_mean_square},
    Operator{"Softmax", 1, over_dims<softmax_over>},
};

}  // namespace

std::span<const Operator> normalization_operators() { return kOperators; }

}  // namespace oneflow::onnx
