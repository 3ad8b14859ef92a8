// Normalizations and softmax.
#include <algorithm>
#include <array>
#include <numeric>
#include <oneflow/oneflow.hpp>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

template <const char* type>
std::vector<Name> over_dim(const ExportCall& call) {
  const int64_t rank = call.rank("input");
  if (rank == 0) throw Unsupported("a tensor without dimensions");
  const int64_t dim = call.dim("dim", "input");
  const DType dtype = is_half(call.result_dtype()) ? float32 : call.result_dtype();
  const Name x = call.tensor("input", dtype);
  // Before opset 13, all dimensions from this one on are normalized as one.
  if (call.out().opset() >= 13 || dim == rank - 1)
    return {call.out().cast(call.out().add(type, {x}, {{"axis", dim}}), dtype, call.result_dtype())};
  Dims order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[static_cast<size_t>(dim)], order.back());
  const Attributes permutation{{"perm", order}};
  const Name last = call.out().add(type, {call.out().add("Transpose", {x}, permutation)}, {{"axis", rank - 1}});
  return {call.out().cast(call.out().add("Transpose", {last}, permutation), dtype, call.result_dtype())};
}
constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax";

// Returns a tensor that may be missing, or ones.
Name scale_of(const ExportCall& call, const Dims& sizes) {
  return call.has("weight") ? call.tensor("weight", call.dtype("input"))
                            : call.out().constant(ones(sizes, call.dtype("input")));
}

Name shift_of(const ExportCall& call, const Dims& sizes) {
  return call.has("bias") ? call.tensor("bias", call.dtype("input"))
                          : call.out().constant(zeros(sizes, call.dtype("input")));
}

std::vector<Name> normalized_layer(const ExportCall& call) {
  const Dims shape = call.integers("normalized_shape");
  const DType dtype = call.dtype("input");
  if (dtype == float64) throw Unsupported("LayerNormalization is rounded to float32");
  return {call.out().add("LayerNormalization",
                         {call.tensor("input"), scale_of(call, shape), call.tensor("bias", dtype)},
                         {{"axis", -static_cast<int64_t>(shape.size())}, {"epsilon", call.number("eps")}})};
}

std::vector<Name> normalized_batch(const ExportCall& call) {
  if (call.flag("training")) throw Unsupported("moving averages");
  const Dims channels{known(call.sizes("input")[1], "the number of channels")};
  const DType dtype = call.dtype("input");
  return {call.out().add("BatchNormalization",
                         {call.tensor("input"), scale_of(call, channels), shift_of(call, channels),
                          call.tensor("running_mean", dtype), call.tensor("running_var", dtype)},
                         {{"epsilon", call.number("eps")}})};
}

std::vector<Name> normalized_instance(const ExportCall& call) {
  if (call.rank("input") < 3) throw Unsupported("InstanceNormalization needs 3 dimensions");
  const Dims channels{known(call.sizes("input")[1], "the number of channels")};
  if (call.dtype("input") == float64) throw Unsupported("InstanceNormalization is rounded to float32");
  return {call.out().add("InstanceNormalization",
                         {call.tensor("input"), scale_of(call, channels), shift_of(call, channels)},
                         {{"epsilon", call.number("eps")}})};
}

constexpr std::array kOperators{
    ExportedOperator{"batch_norm", normalized_batch},
    ExportedOperator{"instance_norm", normalized_instance},
    ExportedOperator{"layer_norm", normalized_layer},
    ExportedOperator{"log_softmax", over_dim<kLogSoftmax>},
    ExportedOperator{"log_softmax.dtype", over_dim<kLogSoftmax>},
    ExportedOperator{"softmax", over_dim<kSoftmax>},
    ExportedOperator{"softmax.dtype", over_dim<kSoftmax>},
};

}  // namespace

std::span<const ExportedOperator> exported_normalizations() { return kOperators; }

}  // namespace oneflow::onnx
