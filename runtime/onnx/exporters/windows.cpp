// Convolutions and pooling.
#include <algorithm>
#include <array>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

// Returns a list with a number per dimension; one number stands for all.
Dims per_dimension(Dims numbers, size_t rank) {
  if (numbers.size() == 1) numbers.resize(rank, numbers[0]);
  return numbers;
}

Dims both_sides(const Dims& padding) {
  Dims pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

// Without a dimension for the batch, one is added around the node.
template <class Write>
Name batched(const ExportCall& call, size_t rank, const Name& x, Write&& write) {
  const auto given = static_cast<size_t>(call.rank("input"));
  if (given == rank + 2) return write(x);
  if (given != rank + 1) throw Unsupported("the input must have dimensions for a batch and channels");
  return call.out().squeeze(write(call.out().unsqueeze(x, {0})), {0});
}

std::vector<Name> convolved(const ExportCall& call) {
  const auto rank = static_cast<size_t>(call.rank("weight")) - 2;
  const bool is_transposed = call.flag("transposed");
  if (!is_floating(call.result_dtype())) throw Unsupported("a convolution of integers");
  const DType dtype = call.result_dtype() == bfloat16 ? float32 : call.result_dtype();
  Attributes attributes{{"strides", per_dimension(call.integers("stride"), rank)},
                        {"pads", both_sides(per_dimension(call.integers("padding"), rank))},
                        {"dilations", per_dimension(call.integers("dilation"), rank)},
                        {"group", call.integer("groups")}};
  if (is_transposed) attributes.push_back({"output_padding", per_dimension(call.integers("output_padding"), rank)});
  const Name found = batched(call, rank, call.tensor("input", dtype), [&](const Name& x) {
    return call.out().add(is_transposed ? "ConvTranspose" : "Conv",
                          {x, call.tensor("weight", dtype), call.tensor("bias", dtype)}, attributes);
  });
  return {call.out().cast(found, dtype, call.result_dtype())};
}

Attributes pooling_attributes(const ExportCall& call, size_t rank) {
  const Dims kernel = per_dimension(call.integers("kernel_size"), rank);
  const Dims stride = call.integers("stride");
  Attributes attributes{{"kernel_shape", kernel},
                        {"strides", stride.empty() ? kernel : per_dimension(stride, rank)},
                        {"pads", both_sides(per_dimension(call.integers("padding"), rank))}};
  // With sizes that are rounded up, runtimes differ in whether a window may begin in the padding.
  if (call.flag("ceil_mode")) throw Unsupported("sizes that are rounded up");
  return attributes;
}

std::vector<Name> max_pooled(const ExportCall& call) {
  const auto rank = static_cast<size_t>(call.integer("n"));
  Attributes attributes = pooling_attributes(call, rank);
  attributes.push_back({"dilations", per_dimension(call.integers("dilation"), rank)});
  if (call.result_dtype() != float32 && call.result_dtype() != float64) throw Unsupported("the maximum of this type");
  return {batched(call, rank, call.tensor("input"),
                  [&](const Name& x) { return call.out().add("MaxPool", {x}, attributes); })};
}

std::vector<Name> average_pooled(const ExportCall& call) {
  const size_t rank = call.expressions("kernel_size").size();
  Attributes attributes = pooling_attributes(call, rank);
  attributes.push_back({"count_include_pad", int64_t{call.flag("count_include_pad")}});
  if (call.has("divisor_override")) throw Unsupported("a divisor of its own");
  if (call.result_dtype() != float32) throw Unsupported("the mean of this type");
  return {batched(call, rank, call.tensor("input"),
                  [&](const Name& x) { return call.out().add("AveragePool", {x}, attributes); })};
}

std::vector<Name> pooled_to_size(const ExportCall& call) {
  const Dims sizes = call.integers("output_size");
  const auto is_one = [](int64_t size) { return size == 1; };
  if (!std::ranges::all_of(sizes, is_one)) throw Unsupported("means of parts");
  const auto rank = static_cast<int64_t>(sizes.size());
  Dims dims;
  for (int64_t i = -rank; i < 0; ++i) dims.push_back(i + call.rank("input"));
  return {call.out().reduce("ReduceMean", call.tensor("input"), dims, true)};
}

constexpr std::array kOperators{
    ExportedOperator{"adaptive_avg_pool", pooled_to_size},
    ExportedOperator{"avg_pool", average_pooled},
    ExportedOperator{"convolution", convolved},
    ExportedOperator{"max_pool", max_pooled},
};

}  // namespace

std::span<const ExportedOperator> exported_windows() { return kOperators; }

}  // namespace oneflow::onnx
