// Operators that change shapes, and those that give them.
#include <algorithm>
#include <array>
#include <numeric>
#include <oneflow/oneflow.hpp>

#include "onnx/arranging.h"
#include "onnx/importer.h"
#include "onnx/operators.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

// Returns a value for sizes of a tensor, which are numbers in the graph.
ValueRef sizes_value(const NodeCall& node, const Tensor& tensor, const Sizes& sizes, bool is_scalar) {
  const bool varies = node.value(0)->is_known() ? node.value(0)->varies : node.sizes_vary();
  const ValueRef value = std::make_shared<Value>(Value{"", {}, varies});
  value->known = node.computed(
      [&] { return Tensor::copy_of(sizes, is_scalar ? Sizes{} : Sizes{static_cast<int64_t>(sizes.size())}); });
  if (!varies) return value;
  value->pending = std::make_shared<PendingCalls>();
  value->pending->results.push_back(value);
  value->pending->record = [sizes, is_scalar, device = tensor.device()]() -> std::vector<Tensor> {
    std::vector<Tensor> parts;
    for (const int64_t size : sizes) parts.push_back(full(is_scalar ? Sizes{} : Sizes{1}, size, int64, device));
    if (parts.empty()) return {zeros(Sizes{0}, int64, device)};
    return {parts.size() == 1 ? parts[0] : cat(parts)};
  };
  return value;
}

std::vector<ValueRef> shape_of(NodeCall& node) {
  const Tensor tensor = node.shape_source(0);
  const Sizes sizes = sizes_of(tensor);
  const int64_t rank = tensor.rank();
  const auto bound = [&](const char* name, int64_t otherwise) {
    const int64_t given = node.integer(name, otherwise);
    return std::clamp(given < 0 ? given + rank : given, int64_t{0}, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  return {sizes_value(node, tensor, Sizes(sizes.begin() + start, sizes.begin() + end), false)};
}

std::vector<ValueRef> size_of(NodeCall& node) {
  const Tensor tensor = node.shape_source(0);
  return {sizes_value(node, tensor, {tensor.count()}, true)};
}

std::vector<ValueRef> same(NodeCall& node) { return {node.value(0)}; }

std::vector<Tensor> reshaped(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Sizes sizes = node.opset() < 5 ? node.integers("shape", {}) : node.integers(1);
  if (!node.flag("allowzero"))
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] == 0) sizes[i] = x.size(static_cast<int64_t>(i));
  return {reshape(x, sizes)};
}

std::vector<Tensor> flattened(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis > x.rank()) throw IndexOutOfRange("axis must be between -rank and rank");
  const Sizes sizes = sizes_of(x);
  const std::span<const int64_t> all(sizes);
  const auto rows = static_cast<size_t>(axis);
  return {reshape(x, {count_elements(all.first(rows)), count_elements(all.subspan(rows))})};
}

std::vector<Tensor> transposed(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Sizes order(static_cast<size_t>(x.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return {permute(x, node.integers("perm", order))};
}

std::vector<Tensor> squeezed(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const auto axes = node.axes(1);
  if (!axes) return {squeeze(x)};
  Sizes sizes = sizes_of(x), wrapped;
  for (const int64_t axis : *axes) {
    wrapped.push_back(wrap_axis(axis, x.rank()));
    if (x.size(axis) != 1)
      throw ShapeError("dimension " + std::to_string(axis) + " must be 1, got " + std::to_string(x.size(axis)));
  }
  return {wrapped.empty() ? x : squeeze(x, wrapped)};
}

std::vector<Tensor> unsqueezed(NodeCall& node) {
  const auto axes = node.axes(1);
  if (!axes) throw InvalidArgument("it must have axes");
  Tensor x = node.tensor(0);
  const int64_t rank = x.rank() + static_cast<int64_t>(axes->size());
  Sizes wrapped;
  for (const int64_t axis : *axes) wrapped.push_back(wrap_axis(axis, rank));
  std::ranges::sort(wrapped);
  if (std::ranges::adjacent_find(wrapped) != wrapped.end()) throw InvalidArgument("axes must differ from each other");
  for (const int64_t axis : wrapped) x = unsqueeze(x, axis);
  return {x};
}

std::vector<Tensor> expanded(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Sizes sizes = node.integers(1);
  // Both shapes are broadcast with each other.
  const auto rank = static_cast<size_t>(x.rank());
  if (sizes.size() < rank) sizes.insert(sizes.begin(), rank - sizes.size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    if (size == 1) size = x.size(-1 - static_cast<int64_t>(i));
  }
  return {broadcast_to(x, sizes)};
}

std::vector<Tensor> concatenated(NodeCall& node) {
  return {cat(node.tensors(), wrap_axis(node.integer("axis", 1), node.tensor(0).rank()))};
}

std::vector<Tensor> split_up(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t axis = wrap_axis(node.integer("axis", 0), x.rank()), size = x.size(axis);
  std::optional<Sizes> parts = node.has(1) ? node.integers(1) : node.integers("split");
  if (!parts) {
    const int64_t count = node.integer("num_outputs", static_cast<int64_t>(node.result_count()));
    if (count < 1) throw InvalidArgument("it must have outputs");
    const int64_t length = (size + count - 1) / count;
    parts.emplace();
    for (int64_t i = 0; i < count; ++i) parts->push_back(std::clamp(size - i * length, int64_t{0}, length));
  }
  return split(x, *parts, axis);
}

std::vector<Tensor> tiled(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  if (node.opset() >= 6) {
    return {repeat(x, node.integers(1))};
  }
  Sizes repeats(static_cast<size_t>(x.rank()), 1);
  repeats[static_cast<size_t>(wrap_axis(node.integer(2), x.rank()))] = node.integer(1);
  return {repeat(x, repeats)};
}

std::vector<Tensor> depth_to_space(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t block = node.required_integer("blocksize");
  if (block < 1 || x.rank() != 4) throw InvalidArgument("it needs a positive blocksize and a tensor of rank 4");
  const int64_t n = x.size(0), c = x.size(1) / (block * block), h = x.size(2), w = x.size(3);
  const bool by_column = node.text("mode", "DCR") == "CRD";
  const Tensor parts = by_column ? permute(reshape(x, {n, c, block, block, h, w}), {0, 1, 4, 2, 5, 3})
                                 : permute(reshape(x, {n, block, block, c, h, w}), {0, 3, 4, 1, 5, 2});
  return {reshape(parts, {n, c, h * block, w * block})};
}

std::vector<Tensor> space_to_depth(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t block = node.required_integer("blocksize");
  if (block < 1 || x.rank() != 4) throw InvalidArgument("it needs a positive blocksize and a tensor of rank 4");
  const int64_t n = x.size(0), c = x.size(1), h = x.size(2) / block, w = x.size(3) / block;
  const bool by_column = node.text("mode", "DCR") == "CRD";
  const Tensor blocks = reshape(x, {n, c, h, block, w, block});
  const Tensor parts = permute(blocks, by_column ? Sizes{0, 1, 3, 5, 2, 4} : Sizes{0, 3, 5, 1, 2, 4});
  return {reshape(parts, {n, c * block * block, h, w})};
}

// Pads one dimension with elements of the tensor.
Tensor padded_by_elements(const NodeCall& node, const Tensor& x, int64_t axis, int64_t before, int64_t after,
                          const std::string& mode) {
  const int64_t size = x.size(axis), most = std::max(before, after);
  const char* ours = nullptr;
  if (mode == "edge")
    ours = "replicate";
  else if (mode == "reflect")
    ours = most < size ? "reflect" : nullptr;
  else if (mode == "wrap")
    ours = most <= size ? "circular" : nullptr;
  else
    throw InvalidArgument("mode must be constant, reflect, edge or wrap, got " + in_quotes(mode));
  if (ours && before >= 0 && after >= 0) {
    // Our operator pads the last dimension of three.
    const Tensor last = transpose(x, axis, -1);
    Sizes sizes = sizes_of(last);
    const Tensor rows = pad(reshape(last, {1, x.count() / std::max<int64_t>(size, 1), size}), {before, after}, ours);
    sizes.back() = rows.size(2);
    return transpose(reshape(rows, sizes), axis, -1);
  }
  Sizes places;
  for (int64_t i = -before; i < size + after; ++i) {
    const int64_t period = mode == "wrap" ? size : std::max<int64_t>(2 * (size - 1), 1);
    const int64_t place = mode == "edge" ? std::clamp(i, int64_t{0}, size - 1) : ((i % period) + period) % period;
    places.push_back(mode == "reflect" && place >= size ? period - place : place);
  }
  const std::vector<double> key(places.begin(), places.end());
  const Sizes count{static_cast<int64_t>(places.size())};
  return index_select(x, axis, node.constant(key, count[0], [&] { return Tensor::copy_of(places, count); }));
}

std::vector<Tensor> padded(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const int64_t rank = x.rank();
  const std::string mode = node.text("mode", "constant");
  Sizes pads = node.opset() < 11 ? node.integers(node.opset() < 2 ? "paddings" : "pads", {}) : node.integers(1);
  Sizes axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has(3)) axes = node.integers(3);
  if (pads.size() != 2 * axes.size()) throw InvalidArgument("pads must have two numbers per axis");
  Sizes before(static_cast<size_t>(rank), 0), after = before;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(wrap_axis(axes[i], rank));
    before[axis] = pads[i];
    after[axis] = pads[axes.size() + i];
  }
  if (mode == "constant") {
    Sizes amounts;
    for (size_t axis = before.size(); axis-- > 0;) {
      amounts.push_back(before[axis]);
      amounts.push_back(after[axis]);
    }
    if (node.opset() < 11) return {pad(x, amounts, "constant", node.real("value", 0))};
    if (!node.has(2)) return {pad(x, amounts, "constant", 0)};
    if (node.value(2)->is_known() && !node.value(2)->varies)
      return {x.dtype() == bool_ || x.dtype() == int64 || x.dtype() == int32
                  ? pad(x, amounts, "constant", node.integer(2))
                  : pad(x, amounts, "constant", node.number(2))};
    // Adds a tensor's element outside.
    const Tensor inside = pad(ones_like(x, bool_), amounts, "constant", 0);
    return {where(inside, pad(x, amounts, "constant", 0), reshape(node.tensor(2), Sizes{}))};
  }
  Tensor result = x;
  for (size_t axis = 0; axis < before.size(); ++axis)
    if (before[axis] != 0 || after[axis] != 0)
      result = padded_by_elements(node, result, static_cast<int64_t>(axis), before[axis], after[axis], mode);
  return {result};
}

std::vector<Tensor> centered(NodeCall& node) {
  Tensor x = node.tensor(0);
  const Sizes target = node.integers(1);
  Sizes axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.integers("axes", axes);
  if (axes.size() != target.size()) throw InvalidArgument("the shape must have a size per axis");
  int64_t differences = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = wrap_axis(axes[i], x.rank()), size = x.size(axis), difference = target[i] - size;
    differences =
        static_cast<int64_t>(static_cast<uint64_t>(differences) * 1000003 + static_cast<uint64_t>(difference));
    if (difference < 0) {
      const int64_t start = -difference / 2;
      x = slice(x, axis, start, start + target[i]);
    } else if (difference > 0) {
      x = pad_dim(x, axis, difference / 2, difference - difference / 2);
    }
  }
  // For other sizes, what is removed here may have to be added.
  node.decide(differences);
  return {x};
}

constexpr std::array kOperators{
    Operator{"CenterCropPad", 18, centered},
    Operator{"Concat", 1, concatenated},
    Operator{"DepthToSpace", 1, depth_to_space},
    Operator{"Expand", 8, expanded},
    Operator{"Flatten", 1, flattened},
    Operator{"Identity", 1, nullptr, same},
    Operator{"Pad", 1, padded},
    Operator{"Reshape", 1, reshaped},
    Operator{"Shape", 1, nullptr, shape_of},
    Operator{"Size", 1, nullptr, size_of},
    Operator{"SpaceToDepth", 1, space_to_depth},
    Operator{"Split", 1, split_up},
    Operator{"Squeeze", 1, squeezed},
    Operator{"Tile", 1, tiled},
    Operator{"Transpose", 1, transposed},
    Operator{"Unsqueeze", 1, unsqueezed},
};

}  // namespace

std::span<const Operator> shape_operators() { return kOperators; }

}  // namespace oneflow::onnx
