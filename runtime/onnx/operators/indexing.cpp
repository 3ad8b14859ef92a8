// Operators that take elements by index, or put them.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <oneflow/oneflow.hpp>

#include "onnx/arranging.h"
#include "onnx/operators.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

// Returns indices that count from the end as those that count from the beginning.
Tensor wrapped(const Tensor& indices, int64_t size) {
  const Tensor wide = indices.to(int64);
  return where(lt(wide, 0), add(wide, size), wide);
}

std::vector<Tensor> gathered(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", 0), x.rank()), size = x.size(axis);
  // One known index selects.
  if (node.value(1)->is_known() && node.known(1).count() == 1) {
    const int64_t index = node.integer(1);
    const Tensor chosen = select(x, axis, index);
    const int64_t rank = node.known(1).rank();
    Tensor result = chosen;
    for (int64_t i = 0; i < rank; ++i) result = unsqueeze(result, axis);
    return {result};
  }
  Tensor indices = node.tensor(1);
  Sizes shape(x.sizes().begin(), x.sizes().end());
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices.sizes().begin(), indices.sizes().end());
  const auto flat = [&](const Tensor& tensor) { return reshape(wrapped(tensor, size), {-1}); };
  bool is_constant = node.value(1)->is_known() && !node.value(1)->varies && node.can_read(1);
  std::vector<double> key;
  // Negative indices count from the end.
  if (is_constant && node.computed([&] { return any(lt(node.known(1), 0)).item<bool>(); }))
    key.push_back(static_cast<double>(size));
  is_constant = is_constant && node.is_constant(key, indices.count());
  const Tensor positions =
      is_constant ? node.constant(key, indices.count(), [&] { return flat(node.known(1)); }) : flat(indices);
  return {reshape(index_select(x, axis, positions), shape)};
}

std::vector<Tensor> gathered_elements(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", 0), x.rank());
  return {gather(x, axis, wrapped(node.tensor(1), x.size(axis)))};
}

// Returns the places of n-dimensional indices in a tensor whose first dimensions are flattened: `sizes` are those.
Tensor flat_places(const Tensor& indices, const Sizes& sizes) {
  Tensor place;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Tensor index = wrapped(select(indices, -1, static_cast<int64_t>(i)), sizes[i]);
    place = i == 0 ? index : add(mul(place, sizes[i]), index);
  }
  return place;
}

std::vector<Tensor> gathered_nd(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Tensor indices = node.tensor(1).to(int64);
  const int64_t batch = node.integer("batch_dims", 0), depth = indices.size(-1);
  if (batch < 0 || batch >= indices.rank() || batch + depth > x.rank())
    throw InvalidArgument("the indices do not fit the input");
  const Sizes all(x.sizes().begin(), x.sizes().end());
  const Sizes indexed(all.begin(), all.begin() + batch + depth);
  // Batch dimensions are indexed by their own positions.
  for (int64_t i = batch; i-- > 0;) {
    Sizes shape(static_cast<size_t>(indices.rank()), 1);
    shape[static_cast<size_t>(i)] = all[static_cast<size_t>(i)];
    Sizes full_shape(indices.sizes().begin(), indices.sizes().end());
    full_shape.back() = 1;
    const Tensor own =
        broadcast_to(reshape(arange(shape[static_cast<size_t>(i)], int64, x.device()), shape), full_shape);
    indices = cat({own, indices}, -1);
  }
  Sizes flat{-1}, shape(indices.sizes().begin(), indices.sizes().end() - 1);
  flat.insert(flat.end(), all.begin() + batch + depth, all.end());
  flat[0] = count_elements(indexed);
  shape.insert(shape.end(), all.begin() + batch + depth, all.end());
  const Tensor places = reshape(flat_places(indices, indexed), {-1});
  return {reshape(index_select(reshape(x, flat), 0, places), shape)};
}

// Our name of a reduction; empty for the replacement of elements.
std::string reduction_of(const NodeCall& node) {
  const std::string name = node.text("reduction", "none");
  if (name == "none") return "";
  if (name == "add") return "sum";
  if (name == "mul") return "prod";
  if (name == "max") return "amax";
  if (name == "min") return "amin";
  throw InvalidArgument("reduction must be none, add, mul, max or min, got " + in_quotes(name));
}

Tensor scattered(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& updates,
                 const std::string& reduction) {
  return reduction.empty() ? scatter(x, dim, index, updates) : scatter_reduce(x, dim, index, updates, reduction);
}

std::vector<Tensor> scattered_elements(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", 0), x.rank());
  return {scattered(x, axis, wrapped(node.tensor(1), x.size(axis)), node.tensor(2), reduction_of(node))};
}

std::vector<Tensor> scattered_nd(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const Tensor& indices = node.tensor(1);
  const int64_t depth = indices.size(-1);
  if (depth > x.rank()) throw InvalidArgument("the indices do not fit the input");
  const Sizes all(x.sizes().begin(), x.sizes().end()), indexed(all.begin(), all.begin() + depth);
  const int64_t rows = count_elements(indexed), length = count_elements(std::span(all).subspan(indexed.size()));
  const Tensor updates = reshape(node.tensor(2), {-1, length});
  const Tensor places = reshape(flat_places(indices, indexed), {-1, 1});
  const Tensor index = broadcast_to(places, {updates.size(0), length});
  return {reshape(scattered(reshape(x, {rows, length}), 0, index, updates, reduction_of(node)), all)};
}

// Puts updates at a position of a cache, per batch.
std::vector<Tensor> scattered_tensor(NodeCall& node) {
  const Tensor &cache = node.tensor(0), &update = node.tensor(1);
  const int64_t axis = wrap_axis(node.integer("axis", -2), cache.rank()), size = cache.size(axis);
  const int64_t length = update.size(axis), batch = cache.size(0);
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") throw InvalidArgument("mode must be linear or circular");
  const Tensor starts = node.has(2) ? node.tensor(2).to(int64) : zeros({batch}, int64, cache.device());
  Tensor places = add(unsqueeze(starts, 1), unsqueeze(arange(length, int64, cache.device()), 0));
  if (mode == "circular") places = remainder(places, size);
  Sizes shape(static_cast<size_t>(update.rank()), 1);
  shape[0] = batch;
  shape[static_cast<size_t>(axis)] = length;
  const Sizes target(update.sizes().begin(), update.sizes().end());
  return {scatter(cache, axis, broadcast_to(reshape(places, shape), target), update)};
}

std::vector<Tensor> sliced(NodeCall& node) {
  Tensor x = node.tensor(0);
  Sizes starts, ends, axes, steps;
  if (node.opset() < 10) {
    starts = node.integers("starts", {});
    ends = node.integers("ends", {});
    axes = node.integers("axes", {});
  } else {
    starts = node.integers(1);
    ends = node.integers(2);
    if (node.has(3)) axes = node.integers(3);
    if (node.has(4)) steps = node.integers(4);
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    throw InvalidArgument("starts, ends, axes and steps must have the same length");
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = wrap_axis(axes[i], x.rank()), size = x.size(axis), step = steps[i];
    if (step == 0 || step == INT64_MIN) throw InvalidArgument("a step must not be 0");
    const auto position = [&](int64_t given, int64_t least, int64_t most) {
      return std::clamp(given < 0 ? given + size : given, least, most);
    };
    if (step > 0) {
      const int64_t start = position(starts[i], 0, size), end = position(ends[i], 0, size);
      if (start != 0 || end != size || step != 1) x = slice(x, axis, start, std::max(start, end), step);
    } else {
      // A slice of the reversed dimension.
      const int64_t start = position(starts[i], -1, size - 1), end = position(ends[i], -1, size - 1);
      const int64_t first = size - 1 - start, last = std::max(first, size - 1 - end);
      x = slice(flip(x, {axis}), axis, first, last, -step);
    }
  }
  return {x};
}

std::vector<Tensor> compressed(NodeCall& node) {
  Tensor x = node.tensor(0);
  const bool has_axis = node.attribute("axis");
  if (!has_axis) x = reshape(x, {-1});
  const int64_t axis = has_axis ? wrap_axis(node.integer("axis", 0), x.rank()) : 0;
  Tensor condition = node.tensor(1);
  if (condition.size(0) > x.size(axis)) condition = slice(condition, 0, 0, x.size(axis));
  return {index_select(x, axis, reshape(nonzero(condition), {-1}))};
}

std::vector<Tensor> positions_of_nonzero(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  return {transpose(nonzero(x.rank() == 0 ? reshape(x, {1}) : x), 0, 1)};
}

std::vector<Tensor> one_hot_encoded(NodeCall& node) {
  const Tensor& indices = node.tensor(0);
  const Tensor& values = node.tensor(2);
  const int64_t depth = node.integer(1), rank = indices.rank() + 1;
  const int64_t axis = wrap_axis(node.integer("axis", -1), rank);
  const Tensor places = unsqueeze(wrapped(indices, depth), axis);
  Sizes shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = depth;
  const Tensor each = reshape(arange(depth, int64, indices.device()), shape);
  return {where(eq(places, each), select(values, 0, 1), select(values, 0, 0))};
}

std::vector<Tensor> triangle(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t diagonal = node.integer_or(1, 0);
  return {node.flag("upper", true) ? triu(x, diagonal) : tril(x, diagonal)};
}

std::vector<Tensor> reversed_sequence(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t batch_axis = wrap_axis(node.integer("batch_axis", 1), x.rank());
  const int64_t time_axis = wrap_axis(node.integer("time_axis", 0), x.rank());
  const int64_t batch = x.size(batch_axis), time = x.size(time_axis);
  Tensor places = reversed_places(time, node.tensor(1));
  if (batch_axis < time_axis) places = transpose(places, 0, 1);
  Sizes shape(static_cast<size_t>(x.rank()), 1);
  shape[static_cast<size_t>(batch_axis)] = batch;
  shape[static_cast<size_t>(time_axis)] = time;
  return {gather(x, time_axis, broadcast_to(reshape(places, shape), sizes_of(x)))};
}

constexpr std::array kOperators{
    Operator{"Compress", 9, compressed},
    Operator{"Gather", 1, gathered},
    Operator{"GatherElements", 11, gathered_elements},
    Operator{"GatherND", 11, gathered_nd},
    Operator{"NonZero", 9, positions_of_nonzero},
    Operator{"OneHot", 9, one_hot_encoded},
    Operator{"ReverseSequence", 10, reversed_sequence},
    Operator{"Scatter", 9, scattered_elements},
    Operator{"ScatterElements", 11, scattered_elements},
    Operator{"ScatterND", 11, scattered_nd},
    Operator{"Slice", 1, sliced},
    Operator{"TensorScatter", 24, scattered_tensor},
    Operator{"Trilu", 14, triangle},
};

}  // namespace

std::span<const Operator> indexing_operators() { return kOperators; }

}  // namespace oneflow::onnx
