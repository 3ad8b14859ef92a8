// Views, and operators that copy or join tensors as they are.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <oneflow/oneflow.hpp>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

std::vector<Name> same(const ExportCall& call) { return {call.tensor("input", call.result_dtype())}; }

std::vector<Name> dropped_out(const ExportCall& call) {
  if (call.flag("training")) throw Unsupported("it draws random numbers");
  return same(call);
}

Dims all_dims(int64_t rank) {
  Dims dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), int64_t{0});
  return dims;
}

std::vector<Name> reshaped(const ExportCall& call) {
  return {call.out().reshape(call.tensor("input"), call.sizes("input"), call.result_sizes())};
}

Name permutation(const ExportCall& call, const Name& x, const Dims& order) {
  return std::ranges::is_sorted(order) ? x : call.out().add("Transpose", {x}, {{"perm", order}});
}

std::vector<Name> transposed(const ExportCall& call) {
  Dims order = all_dims(call.rank("input"));
  std::swap(order[static_cast<size_t>(call.dim("dim0", "input"))],
            order[static_cast<size_t>(call.dim("dim1", "input"))]);
  return {permutation(call, call.tensor("input"), order)};
}

std::vector<Name> transposed_matrix(const ExportCall& call) {
  const bool is_matrix = call.rank("input") == 2;
  return {permutation(call, call.tensor("input"), is_matrix ? Dims{1, 0} : all_dims(call.rank("input")))};
}

std::vector<Name> permuted(const ExportCall& call) {
  Dims order = call.integers("dims");
  for (int64_t& dim : order) dim += dim < 0 ? call.rank("input") : 0;
  return {permutation(call, call.tensor("input"), order)};
}

std::vector<Name> expanded(const ExportCall& call) {
  return {call.out().add("Expand", {call.tensor("input"), call.out().integers(call.result_sizes())})};
}

std::vector<Name> squeezed(const ExportCall& call) {
  Dims dims;
  for (int64_t dim = 0; dim < call.rank("input"); ++dim)
    if (call.type("input").sizes[dim] == 1) dims.push_back(dim);
  return {dims.empty() ? call.tensor("input") : call.out().squeeze(call.tensor("input"), dims)};
}

std::vector<Name> squeezed_dims(const ExportCall& call) {
  Dims dims;
  for (int64_t dim : call.integers("dim")) {
    dim += dim < 0 ? call.rank("input") : 0;
    if (call.type("input").sizes[dim] == 1) dims.push_back(dim);
  }
  std::ranges::sort(dims);
  return {dims.empty() ? call.tensor("input") : call.out().squeeze(call.tensor("input"), dims)};
}

std::vector<Name> unsqueezed(const ExportCall& call) {
  const int64_t dim = call.integer("dim");
  return {call.out().unsqueeze(call.tensor("input"), {dim < 0 ? dim + call.result().rank : dim})};
}

std::vector<Name> selected(const ExportCall& call) {
  return {call.out().add("Gather", {call.tensor("input"), call.out().scalar(call.expressions("index")[0])},
                         {{"axis", call.dim("dim", "input")}})};
}

Name bound(const ExportCall& call, std::string_view name, int64_t otherwise) {
  return call.has(name) ? call.out().integers(call.expressions(name)) : call.out().integers(Dims{otherwise});
}

std::vector<Name> sliced(const ExportCall& call) {
  return {call.out().slice(call.tensor("input"), call.dim("dim", "input"), bound(call, "start", 0),
                           bound(call, "end", std::numeric_limits<int64_t>::max()), call.integer("step"))};
}

// The end is that of the result, counted from the start.
std::vector<Name> narrowed(const ExportCall& call) {
  const int64_t dim = call.dim("dim", "input");
  const of_graph_integer start = call.expressions("start")[0], length = call.expressions("length")[0];
  if (is_constant(start) && is_constant(length)) {
    int64_t end = start.constant + length.constant;
    if (start.constant < 0 && end >= 0) end = std::numeric_limits<int64_t>::max();
    return {call.out().slice(call.tensor("input"), dim, call.out().integers(Dims{start.constant}),
                             call.out().integers(Dims{end}))};
  }
  const Name first = call.out().integers(call.expressions("start"));
  return {call.out().slice(call.tensor("input"), dim, first,
                           call.out().add("Add", {first, call.out().integers(call.expressions("length"))}))};
}

std::vector<Name> flipped(const ExportCall& call) {
  Name x = call.tensor("input");
  for (int64_t dim : call.integers("dims")) {
    dim += dim < 0 ? call.rank("input") : 0;
    x = call.out().slice(x, dim, call.out().integers(Dims{-1}),
                         call.out().integers(Dims{std::numeric_limits<int64_t>::min()}), -1);
  }
  return {x};
}

// Windows along a dimension are gathered by the positions of their elements.
std::vector<Name> windows(const ExportCall& call) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions has no windows");
  const int64_t dim = call.dim("dimension", "input"), size = call.integer("size"), step = call.integer("step"),
                dilation = call.integer("dilation");
  const int64_t count = known(call.result_sizes()[static_cast<size_t>(dim)], "the number of windows");
  Dims places;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < size; ++k) places.push_back(i * step + k * dilation);
  const Name gathered = call.out().add(
      "Gather", {call.tensor("input"), call.out().constant(Tensor::copy_of(places, {count, size}))}, {{"axis", dim}});
  Dims order = all_dims(call.result().rank);
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  return {permutation(call, gathered, order)};
}

// The diagonal elements of matrices are gathered from their rows.
std::vector<Name> diagonal_elements(const ExportCall& call) {
  const int64_t rank = call.rank("input"), offset = call.integer("offset");
  const int64_t dim1 = call.dim("dim1", "input"), dim2 = call.dim("dim2", "input");
  const Dims sizes = known(call.sizes("input"), "a size");
  Dims order, shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == dim1 || dim == dim2) continue;
    order.push_back(dim);
    shape.push_back(sizes[static_cast<size_t>(dim)]);
  }
  order.insert(order.end(), {dim1, dim2});
  const int64_t columns = sizes[static_cast<size_t>(dim2)], count = call.result().sizes[rank - 2];
  if (std::ranges::count(sizes, 0)) throw Unsupported("a diagonal without elements");
  shape.push_back(-1);
  Dims places;
  const int64_t first = offset >= 0 ? offset : -offset * columns;
  for (int64_t i = 0; i < count; ++i) places.push_back(first + i * (columns + 1));
  const Name rows =
      call.out().add("Reshape", {permutation(call, call.tensor("input"), order), call.out().integers(shape)});
  return {call.out().add("Gather", {rows, call.out().integers(places)}, {{"axis", rank - 2}})};
}

std::vector<Name> concatenated(const ExportCall& call) {
  std::vector<Name> parts;
  for (const int32_t value : call.values("tensors")) {
    const of_graph_value& type = call.out().type(value);
    // A list without elements joins any others.
    if (type.rank == 1 && type.sizes[0] == 0 && call.result().rank != 1) continue;
    parts.push_back(call.out().cast(call.out().value(value), static_cast<DType>(type.dtype), call.result_dtype()));
  }
  const int64_t dim = call.integer("dim");
  return {call.out().add("Concat", parts, {{"axis", dim < 0 ? dim + call.result().rank : dim}})};
}

std::vector<Name> joined(const ExportCall& call) {
  const int64_t dim = call.integer("dim") + (call.integer("dim") < 0 ? call.result().rank : 0);
  std::vector<Name> parts;
  for (const int32_t value : call.values("tensors")) {
    const Name part =
        call.out().cast(call.out().value(value), static_cast<DType>(call.out().type(value).dtype), call.result_dtype());
    parts.push_back(call.out().unsqueeze(part, {dim}));
  }
  return {call.out().add("Concat", parts, {{"axis", dim}})};
}

// Splits a tensor into the sizes that its results have.
std::vector<Name> split_up(const ExportCall& call) {
  const int64_t dim = call.dim("dim", "input");
  if (call.result_count() == 1) return {call.tensor("input")};
  std::vector<of_graph_integer> sizes;
  for (size_t i = 0; i < call.result_count(); ++i) sizes.push_back(call.result_sizes(i)[static_cast<size_t>(dim)]);
  const Attribute axis{"axis", dim};
  if (call.out().opset() >= 13)
    return call.out().add("Split", {call.tensor("input"), call.out().integers(Integers(sizes))}, {axis}, sizes.size());
  return call.out().add("Split", {call.tensor("input")}, {axis, {"split", known(sizes, "a size")}}, sizes.size());
}

std::vector<Name> unbound(const ExportCall& call) {
  const int64_t dim = call.dim("dim", "input");
  std::vector<Name> parts;
  for (size_t i = 0; i < call.result_count(); ++i)
    parts.push_back(
        call.out().add("Gather", {call.tensor("input"), call.out().integer(static_cast<int64_t>(i))}, {{"axis", dim}}));
  return parts;
}

template <const char* argument>
std::vector<Name> tiled(const ExportCall& call) {
  const auto repeats = static_cast<int64_t>(call.expressions(argument).size());
  Name x = call.tensor("input");
  Name counts = call.out().integers(call.expressions(argument));
  const int64_t missing = repeats - call.rank("input");
  if (missing > 0) {
    Dims dims(static_cast<size_t>(missing));
    std::iota(dims.begin(), dims.end(), int64_t{0});
    x = call.out().unsqueeze(x, dims);
  } else if (missing < 0) {
    counts = call.out().add("Concat", {call.out().integers(Dims(static_cast<size_t>(-missing), 1)), counts},
                            {{"axis", int64_t{0}}});
  }
  return {call.out().add("Tile", {x, counts})};
}
constexpr char kRepeats[] = "repeats", kDims[] = "dims";

std::vector<Name> padded(const ExportCall& call) {
  const Integers amounts = call.expressions("pad");
  const auto rank = static_cast<size_t>(call.rank("input"));
  // Ours come in pairs from the last dimension on; ONNX's are all those before, and then those after.
  std::vector<of_graph_integer> pads(2 * rank, of_graph_integer{0, nullptr, 0, 1});
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    pads[rank - 1 - i] = amounts[2 * i];
    pads[2 * rank - 1 - i] = amounts[2 * i + 1];
  }
  std::string mode = "constant";
  if (call.name() == "pad") mode = call.text("mode");
  if (mode == "replicate") mode = "edge";
  if (mode == "circular") mode = "wrap";
  if (mode == "wrap" && call.out().opset() < 19) throw Unsupported("circular padding needs opset 19");
  std::vector<Name> inputs{call.tensor("input"), call.out().integers(Integers(pads))};
  if (mode == "constant") inputs.push_back(call.tensor("value", call.result_dtype()));
  return {call.out().add("Pad", inputs, {{"mode", mode}})};
}

template <bool is_upper>
std::vector<Name> triangle(const ExportCall& call) {
  return {call.out().add("Trilu", {call.tensor("input"), call.out().scalar(call.expressions("diagonal")[0])},
                         {{"upper", int64_t{is_upper}}})};
}

constexpr std::array kOperators{
    ExportedOperator{"broadcast_to", expanded},
    ExportedOperator{"cat", concatenated},
    ExportedOperator{"clone", same},
    ExportedOperator{"constant_pad_nd", padded},
    ExportedOperator{"contiguous", same},
    ExportedOperator{"detached", same},
    ExportedOperator{"dropout", dropped_out},
    ExportedOperator{"diagonal", diagonal_elements},
    ExportedOperator{"expand", expanded},
    ExportedOperator{"expand_as", expanded},
    ExportedOperator{"flatten", reshaped},
    ExportedOperator{"flip", flipped},
    ExportedOperator{"lazy_clone", same},
    ExportedOperator{"narrow", narrowed},
    ExportedOperator{"pad", padded},
    ExportedOperator{"permute", permuted},
    ExportedOperator{"pin_memory", same},
    ExportedOperator{"positive", same},
    ExportedOperator{"repeat", tiled<kRepeats>},
    ExportedOperator{"reshape", reshaped},
    ExportedOperator{"reshape_as", reshaped},
    ExportedOperator{"select", selected},
    ExportedOperator{"slice", sliced},
    ExportedOperator{"chunk", split_up},
    ExportedOperator{"split", split_up},
    ExportedOperator{"split.sizes", split_up},
    ExportedOperator{"squeeze", squeezed},
    ExportedOperator{"squeeze.dim", squeezed_dims},
    ExportedOperator{"stack", joined},
    ExportedOperator{"t", transposed_matrix},
    ExportedOperator{"tensor_split", split_up},
    ExportedOperator{"tile", tiled<kDims>},
    ExportedOperator{"to_device", same},
    ExportedOperator{"transpose", transposed},
    ExportedOperator{"tril", triangle<false>},
    ExportedOperator{"triu", triangle<true>},
    ExportedOperator{"unbind", unbound},
    ExportedOperator{"unflatten", reshaped},
    ExportedOperator{"unfold", windows},
    ExportedOperator{"unsqueeze", unsqueezed},
    ExportedOperator{"view", reshaped},
    ExportedOperator{"view_as", reshaped},
};

}  // namespace

std::span<const ExportedOperator> exported_views() { return kOperators; }

}  // namespace oneflow::onnx
