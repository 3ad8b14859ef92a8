// Reductions, scans, and operators that order elements.
#include <array>
#include <limits>
#include <numeric>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

// Returns the dimensions that a reduction folds; none if it folds nothing.
std::optional<Sizes> folded_dims(const NodeCall& node, const Tensor& x) {
  const std::optional<Sizes> axes = node.axes(1);
  if (axes && !axes->empty()) {
    Sizes dims;
    for (const int64_t axis : *axes) dims.push_back(wrap_axis(axis, x.rank()));
    return dims;
  }
  if (node.flag("noop_with_empty_axes")) return {};
  Sizes dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

using Reduction = Tensor (*)(const Tensor& x, const Sizes& dims, bool keepdims);

template <Reduction reduction, bool is_square_or_absolute = false>
std::vector<Tensor> reduce(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const std::optional<Sizes> dims = folded_dims(node, x);
  if (!dims) return {is_square_or_absolute ? reduction(unsqueeze(x, 0), {0}, false) : x};
  return {x.rank() == 0 ? reshape(reduction(reshape(x, {1}), {0}, false), Sizes{})
                        : reduction(x, *dims, node.flag("keepdims", true))};
}

Tensor sum_of(const Tensor& x, const Sizes& dims, bool keepdims) { return sum(x, dims, keepdims, x.dtype()); }

Tensor mean_of(const Tensor& x, const Sizes& dims, bool keepdims) {
  return x.dtype() == int32 || x.dtype() == int64 ? mean(x.to(float64), dims, keepdims).to(x.dtype())
                                                  : mean(x, dims, keepdims);
}

Tensor product_of(const Tensor& x, const Sizes& dims, bool keepdims) {
  Tensor result = x;
  for (const int64_t dim : dims) result = prod(result, dim, true, x.dtype());
  return keepdims ? result : squeeze(result, dims);
}

// Of no elements, the extremes are the limits of the dtype.
Tensor largest_of(const Tensor& x, const Sizes& dims, bool keepdims) {
  if (x.dtype() == bool_) return any(x, dims, keepdims);
  if (x.count() == 0) return sub(sum(x, dims, keepdims, x.dtype()), std::numeric_limits<double>::infinity());
  return amax(x, dims, keepdims);
}

Tensor smallest_of(const Tensor& x, const Sizes& dims, bool keepdims) {
  if (x.dtype() == bool_) return all(x, dims, keepdims);
  if (x.count() == 0) return add(sum(x, dims, keepdims, x.dtype()), std::numeric_limits<double>::infinity());
  return amin(x, dims, keepdims);
}

Tensor sum_of_absolutes(const Tensor& x, const Sizes& dims, bool keepdims) {
  return sum(abs(x), dims, keepdims, x.dtype());
}

Tensor sum_of_squares(const Tensor& x, const Sizes& dims, bool keepdims) {
  return sum(mul(x, x), dims, keepdims, x.dtype());
}

Tensor root_of_squares(const Tensor& x, const Sizes& dims, bool keepdims) {
  return sqrt(sum_of_squares(x, dims, keepdims)).to(x.dtype());
}

Tensor log_of_sum(const Tensor& x, const Sizes& dims, bool keepdims) { return log(sum_of(x, dims, keepdims)); }

Tensor log_of_sum_of_exponentials(const Tensor& x, const Sizes& dims, bool keepdims) {
  return logsumexp(x, dims, keepdims);
}

// Returns the positions of extremes; of equal ones, the first or the last.
template <Tensor (*find)(const Tensor& x, int64_t dim)>
std::vector<Tensor> position(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", 0), x.rank());
  Tensor found = node.flag("select_last_index") ? sub(x.size(axis) - 1, find(flip(x, {axis}), axis)) : find(x, axis);
  return {node.flag("keepdims", true) ? found : squeeze(found, axis)};
}

Tensor position_of_largest(const Tensor& x, int64_t dim) { return argmax(x, dim, true); }
Tensor position_of_smallest(const Tensor& x, int64_t dim) { return argmin(x, dim, true); }

template <Tensor (*scan)(const Tensor& x, int64_t dim), int neutral>
std::vector<Tensor> cumulate(NodeCall& node) {
  Tensor x = node.tensor(0);
  const int64_t dim = wrap_axis(node.integer(1), x.rank()), size = x.size(dim);
  const bool reverse = node.flag("reverse");
  if (reverse) x = flip(x, {dim});
  if (node.flag("exclusive") && size > 0) {
    const Tensor first = full_like(slice(x, dim, 0, 1), neutral);
    x = cat({first, slice(x, dim, 0, size - 1)}, dim);
  }
  x = scan(x, dim).to(x.dtype());
  return {reverse ? flip(x, {dim}) : x};
}

Tensor running_sum(const Tensor& x, int64_t dim) { return cumsum(x, dim, x.dtype()); }
Tensor running_product(const Tensor& x, int64_t dim) { return cumprod(x, dim, x.dtype()); }

std::vector<Tensor> largest_elements(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t count = node.opset() < 10 ? node.required_integer("k") : node.integer(1);
  const auto [values, indices] =
      topk(x, count, node.integer("axis", -1), node.flag("largest", true), node.flag("sorted", true));
  return {values, indices};
}

std::vector<Tensor> different_elements(NodeCall& node) {
  Tensor x = node.tensor(0);
  const bool has_axis = node.attribute("axis");
  if (!has_axis) x = reshape(x, {-1});
  const int64_t axis = has_axis ? wrap_axis(node.integer("axis", 0), x.rank()) : 0;
  auto found = unique(x, true, std::true_type(), std::true_type(), axis);
  Tensor values = found.output, inverse = found.inverse_indices, counts = found.counts;
  // The first position of each: the smallest of those that map to it.
  const int64_t size = x.size(axis), groups = values.size(axis);
  const Tensor positions = arange(size, int64, x.device());
  Tensor first = scatter_reduce(full({groups}, size, int64, x.device()), 0, inverse, positions, "amin");
  if (!node.flag("sorted", true)) {
    const Tensor order = argsort(first);
    const Tensor rank = scatter(zeros_like(order), 0, order, arange(groups, int64, x.device()));
    values = index_select(values, axis, order);
    counts = index_select(counts, 0, order);
    first = index_select(first, 0, order);
    inverse = index_select(rank, 0, inverse);
  }
  return {values, first, inverse, counts};
}

constexpr std::array kOperators{
    Operator{"ArgMax", 1, position<position_of_largest>},
    Operator{"ArgMin", 1, position<position_of_smallest>},
    Operator{"CumProd", 26, cumulate<running_product, 1>},
    Operator{"CumSum", 11, cumulate<running_sum, 0>},
    Operator{"ReduceL1", 1, reduce<sum_of_absolutes, true>},
    Operator{"ReduceL2", 1, reduce<root_of_squares, true>},
    Operator{"ReduceLogSum", 1, reduce<log_of_sum, true>},
    Operator{"ReduceLogSumExp", 1, reduce<log_of_sum_of_exponentials>},
    Operator{"ReduceMax", 1, reduce<largest_of>},
    Operator{"ReduceMean", 1, reduce<mean_of>},
    Operator{"ReduceMin", 1, reduce<smallest_of>},
    Operator{"ReduceProd", 1, reduce<product_of>},
    Operator{"ReduceSum", 1, reduce<sum_of>},
    Operator{"ReduceSumSquare", 1, reduce<sum_of_squares, true>},
    Operator{"TopK", 1, largest_elements},
    Operator{"Unique", 11, different_elements},
};

}  // namespace

std::span<const Operator> reduction_operators() { return kOperators; }

}  // namespace oneflow::onnx
