// Operators that read or write elements by their indices, or by their order.
#include <algorithm>
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

Name index_of(const ExportCall& call, std::string_view name) { return call.tensor(name, int64); }

std::vector<Name> selected(const ExportCall& call) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions cannot be indexed");
  return {
      call.out().add("Gather", {call.tensor("input"), index_of(call, "index")}, {{"axis", call.dim("dim", "input")}})};
}

std::vector<Name> gathered(const ExportCall& call) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions cannot be indexed");
  return {call.out().add("GatherElements", {call.tensor("input"), index_of(call, "index")},
                         {{"axis", call.dim("dim", "input")}})};
}

std::vector<Name> embedded(const ExportCall& call) {
  return {call.out().add("Gather", {call.tensor("weight"), index_of(call, "input")}, {{"axis", int64_t{0}}})};
}

// The indexed dimensions, and an index of all of them with a dimension for each one at its end.
struct Places {
  Dims dims;
  Name index;
  int64_t rank;  // of each index
};

Places places_of(const ExportCall& call) {
  Places places{{}, {}, 0};
  std::vector<int32_t> indices;
  const std::vector<int32_t> given = call.values("indices");
  for (size_t dim = 0; dim < given.size(); ++dim) {
    if (given[dim] < 0) continue;
    if (static_cast<DType>(call.out().type(given[dim]).dtype) == bool_)
      throw Unsupported("the number of elements that a mask selects depends on its elements");
    places.dims.push_back(static_cast<int64_t>(dim));
    places.rank = std::max<int64_t>(places.rank, call.out().type(given[dim]).rank);
    indices.push_back(given[dim]);
  }
  const auto name_of = [&](int32_t value) {
    return call.out().cast(call.out().value(value), static_cast<DType>(call.out().type(value).dtype), int64);
  };
  if (indices.size() == 1) {
    places.index = call.out().unsqueeze(name_of(indices[0]), {places.rank});
    return places;
  }
  // Adding zeros of the others' shapes broadcasts an index.
  std::vector<Name> parts;
  Name zeros;
  for (const int32_t value : indices) {
    const Name zero = call.out().add("Mul", {name_of(value), call.out().integer(0)});
    zeros = zeros.empty() ? zero : call.out().add("Add", {zeros, zero});
  }
  for (const int32_t value : indices)
    parts.push_back(call.out().unsqueeze(call.out().add("Add", {name_of(value), zeros}), {places.rank}));
  places.index = call.out().add("Concat", parts, {{"axis", places.rank}});
  return places;
}

// Returns the order of dimensions in which the indexed ones come first.
Dims indexed_first(const Places& places, int64_t rank) {
  Dims order = places.dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!std::ranges::count(places.dims, dim)) order.push_back(dim);
  return order;
}

Name permuted(const ExportCall& call, const Name& x, const Dims& order) {
  return std::ranges::is_sorted(order) ? x : call.out().add("Transpose", {x}, {{"perm", order}});
}

bool are_consecutive(const Dims& dims) {
  for (size_t i = 1; i < dims.size(); ++i)
    if (dims[i] != dims[i - 1] + 1) return false;
  return true;
}

// Returns the order in which the dimensions of the indices, which come first, are where the result has them.
Dims indices_in_place(const Places& places, int64_t rank) {
  const int64_t before = are_consecutive(places.dims) ? places.dims[0] : 0;
  Dims order;
  for (int64_t i = 0; i < before; ++i) order.push_back(places.rank + i);
  for (int64_t i = 0; i < places.rank; ++i) order.push_back(i);
  for (int64_t i = places.rank + before; i < rank; ++i) order.push_back(i);
  return order;
}

std::vector<Name> indexed(const ExportCall& call) {
  const std::vector<int32_t> given = call.values("indices");
  const Places places = places_of(call);
  if (places.dims.empty()) return {call.tensor("input")};
  const Dims order = indexed_first(places, call.rank("input"));
  const Name found = call.out().add("GatherND", {permuted(call, call.tensor("input"), order), places.index});
  return {permuted(call, found, indices_in_place(places, call.result().rank))};
}

std::vector<Name> index_written(const ExportCall& call) {
  const Places places = places_of(call);
  if (places.dims.empty()) throw Unsupported("it has no index");
  const Dims order = indexed_first(places, call.rank("input"));
  const auto rank = static_cast<int64_t>(order.size());
  const bool accumulates = call.flag("accumulate");
  if (accumulates && call.out().opset() < 16) throw Unsupported("accumulated values need opset 16");
  // The values have the shape of what the index selects, whose dimensions of indices come first in ScatterND.
  const Name x = permuted(call, call.tensor("input"), order);
  Name shape = call.out().add("Shape", {call.out().add("GatherND", {x, places.index})});
  const int64_t result_rank = places.rank + rank - static_cast<int64_t>(places.dims.size());
  const Dims in_place = indices_in_place(places, result_rank);
  Dims back(in_place.size());
  for (size_t i = 0; i < in_place.size(); ++i) back[static_cast<size_t>(in_place[i])] = static_cast<int64_t>(i);
  Name values = call.tensor("values", call.dtype("input"));
  if (!std::ranges::is_sorted(in_place)) {
    shape = call.out().add("Gather", {shape, call.out().integers(in_place)}, {{"axis", int64_t{0}}});
    values = call.out().add("Transpose", {call.out().add("Expand", {values, shape})}, {{"perm", back}});
  } else {
    values = call.out().add("Expand", {values, shape});
  }
  Attributes attributes;
  if (accumulates) attributes.push_back({"reduction", std::string("add")});
  const Name written = call.out().add("ScatterND", {x, places.index, values}, attributes);
  Dims restored(order.size());
  for (size_t i = 0; i < order.size(); ++i) restored[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return {permuted(call, written, restored)};
}

Name scattered_elements(const ExportCall& call, const Name& values, const char* reduction = nullptr) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions cannot be indexed");
  Attributes attributes{{"axis", call.dim("dim", "input")}};
  if (reduction) {
    if (call.out().opset() < 16) throw Unsupported("scattered sums need opset 16");
    attributes.push_back({"reduction", std::string(reduction)});
  }
  Name updates = values;
  // Of larger operands, the part that the index covers is used.
  return call.out().add("ScatterElements", {call.tensor("input"), index_of(call, "index"), updates}, attributes);
}

Name source_of(const ExportCall& call, std::string_view name) {
  Name source = call.tensor(name, call.dtype("input"));
  for (int64_t dim = 0; dim < call.rank(name); ++dim) {
    const of_graph_integer &has = call.sizes(name)[static_cast<size_t>(dim)],
                           &wanted = call.sizes("index")[static_cast<size_t>(dim)];
    if (key_of(has) != key_of(wanted))
      source = call.out().slice(source, dim, call.out().integers(Dims{0}), call.out().integers(Integers(&wanted, 1)));
  }
  return source;
}

std::vector<Name> scattered(const ExportCall& call) { return {scattered_elements(call, source_of(call, "src"))}; }

std::vector<Name> scattered_value(const ExportCall& call) {
  const Name values =
      call.out().add("Expand", {call.tensor("value", call.dtype("input")), call.out().integers(call.sizes("index"))});
  return {scattered_elements(call, values)};
}

std::vector<Name> scattered_sum(const ExportCall& call) {
  return {scattered_elements(call, source_of(call, "src"), "add")};
}

std::vector<Name> largest_elements(const ExportCall& call) {
  const Name count = call.out().integers(call.expressions("k"));
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions has no order");
  return call.out().add(
      "TopK", {call.tensor("input"), count},
      {{"axis", call.dim("dim", "input")}, {"largest", int64_t{call.flag("largest")}}, {"sorted", int64_t{1}}}, 2);
}

std::vector<Name> sorted_elements(const ExportCall& call) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions has no order");
  const int64_t dim = call.dim("dim", "input");
  const of_graph_integer& size = call.sizes("input")[static_cast<size_t>(dim)];
  return call.out().add("TopK", {call.tensor("input"), call.out().integers(Integers(&size, 1))},
                        {{"axis", dim}, {"largest", int64_t{call.flag("descending")}}, {"sorted", int64_t{1}}}, 2);
}

constexpr std::array kOperators{
    ExportedOperator{"embedding", embedded},
    ExportedOperator{"gather", gathered},
    ExportedOperator{"index", indexed},
    ExportedOperator{"index_put_", index_written},
    ExportedOperator{"index_select", selected},
    ExportedOperator{"scatter", scattered},
    ExportedOperator{"scatter.value", scattered_value},
    ExportedOperator{"scatter_add", scattered_sum},
    ExportedOperator{"sort", sorted_elements},
    ExportedOperator{"topk", largest_elements},
};

}  // namespace

std::span<const ExportedOperator> exported_indexing() { return kOperators; }

}  // namespace oneflow::onnx
