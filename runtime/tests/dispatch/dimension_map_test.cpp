// Tests dimension maps: the links of calls of every kind, and that they are true, by computing with parts of operands.
#include "dispatch/dimension_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <list>
#include <nlohmann/json.hpp>

#include "dispatch/dispatch.h"
#include "ops/parts.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

using json = nlohmann::json;

Shape shape_of(const json& sizes) {
  Shape shape;
  for (const json& size : sizes) shape.push_back(size.get<int64_t>());
  return shape;
}

const char* const kNames[] = {"same",    "broadcast", "split",      "merged", "windowed",
                              "indexed", "folded",    "contracted", "opaque"};

// Returns a tensor of the given sizes with different numbers.
TensorRef numbers(const Shape& sizes, of_dtype dtype = OF_FLOAT32) {
  std::vector<double> elements(static_cast<size_t>(count_elements(sizes)));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>((i * 7 + 3) % 11) / 4;
  return make_tensor(sizes, elements, dtype);
}
TensorRef indices(const Shape& sizes) {
  std::vector<double> elements(static_cast<size_t>(count_elements(sizes)));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>(i % 2);
  return make_tensor(sizes, elements, OF_INT64);
}

// A call that keeps what its arguments refer to.
struct Case {
  const Operator* op;
  std::vector<of_value> arguments;
  std::vector<TensorRef> tensors = {};
  std::vector<std::vector<of_tensor>> lists = {};
  std::list<Shape> sizes = {};

  explicit Case(const char* name) : op(&*OperatorName(name)) {}
  Case(Case&&) = default;

  Case&& operator<<(TensorRef tensor) && {
    arguments.push_back(to_value(tensor));
    tensors.push_back(std::move(tensor));
    return std::move(*this);
  }
  Case&& list(std::vector<TensorRef> items) && {
    std::vector<of_tensor>& handles = lists.emplace_back();
    for (TensorRef& each : items) {
      handles.push_back(to_handle(each.get()));
      tensors.push_back(std::move(each));
    }
    arguments.push_back(to_value(std::span<of_tensor>(handles)));
    return std::move(*this);
  }
  Case&& dims(const Shape& items) && {
    arguments.push_back(to_value(sizes.emplace_back(items)));
    return std::move(*this);
  }
  Case&& operator<<(const char* text) && {
    arguments.push_back(to_value(text));
    return std::move(*this);
  }
  template <class Value>
  Case&& operator<<(const Value& value) && {
    arguments.push_back(to_value(value));
    return std::move(*this);
  }
};

// Returns the links in words: "0.1->2 same" is dimension 1 of tensor 0, which dimension 2 of the result follows.
std::string links(const Case& call) {
  std::string text;
  for (const DimensionLink& link : dimension_map(*call.op, call.arguments).links) {
    text += (text.empty() ? "" : ", ") + std::to_string(link.operand) + "." + std::to_string(link.dim) + "->";
    text += (link.result_dim < 0 ? "-" : std::to_string(link.result_dim)) + " ";
    text += kNames[static_cast<size_t>(link.relation)];
    if (link.relation == Relation::kWindowed || link.relation == Relation::kSplit)
      text += " " + std::to_string(link.begin) + "+" + std::to_string(link.factor) + "i";
  }
  return text;
}

// Makes a tensor of an argument in a file.
TensorRef tensor_of(const json& value) {
  return value.contains("indices") ? indices(shape_of(value["indices"])) : numbers(shape_of(value["tensor"]));
}

Case case_of(const json& described) {
  Case call(described["operator"].get_ref<const std::string&>().c_str());
  for (const json& value : described["arguments"]) {
    if (value.is_null()) {
      std::move(call) << kNone;
    } else if (value.is_boolean()) {
      std::move(call) << value.get<bool>();
    } else if (value.is_number_integer()) {
      std::move(call) << value.get<int64_t>();
    } else if (value.is_number()) {
      std::move(call) << value.get<double>();
    } else if (value.is_string()) {
      std::move(call) << value.get_ref<const std::string&>().c_str();
    } else if (value.contains("integers")) {
      std::move(call).dims(shape_of(value["integers"]));
    } else if (value.contains("list")) {
      std::vector<TensorRef> items;
      for (const json& item : value["list"]) items.push_back(tensor_of(item));
      std::move(call).list(std::move(items));
    } else {
      std::move(call) << tensor_of(value);
    }
  }
  return call;
}

// tests/codegen/test_dims.py compares the same calls with what records say in words.
TEST(DimensionMap, OfCallsOfEveryKind) {
  std::ifstream file(DIMENSION_MAPS);
  const json cases = json::parse(file);
  ASSERT_GT(cases.size(), 40u);
  for (const json& described : cases) EXPECT_EQ(links(case_of(described)), described["links"]) << described;
}

// Returns the tensors of a call with the operands narrowed to index 0 of the dimensions that result dimension `dim`
// follows; nothing if one of them does not follow it alone, or a number of the arguments may be their size.
bool narrow_operands(Case& call, const DimensionMap& map, int dim) {
  bool has_link = false;
  for (const DimensionLink& link : map.links) {
    if (link.result_dim != dim) continue;
    if (link.relation == Relation::kBroadcast) continue;
    if (link.relation != Relation::kSame) return false;
    has_link = true;
  }
  for (const DimensionLink& link : map.links) {
    if (link.result_dim != dim || link.relation != Relation::kSame) continue;
    TensorRef& tensor = call.tensors[static_cast<size_t>(link.operand)];
    const of_tensor before = to_handle(tensor.get());
    TensorRef part = narrow(*tensor, link.dim, {0, 1});
    for (of_value& value : call.arguments)
      if (value.kind == OF_VALUE_TENSOR && value.as.tensor == before) value = to_value(part);
    for (auto& list : call.lists) std::replace(list.begin(), list.end(), before, to_handle(part.get()));
    tensor = std::move(part);
  }
  return has_link;
}

TensorRef first_result(const Case& call) {
  of_value results[kMaxResults]{};
  oneflow::call(*call.op, call.arguments, {results, static_cast<size_t>(call.op->schema().result_count)});
  TensorRef first = share(*to_tensor(results[0].as.tensor));
  for (of_value& each : results) release_value(each);
  return first;
}

// A dimension that is the same in operands and result can be split: a part of the operands gives a part of the result.
TEST(DimensionMap, SameDimensionsCanBeSplit) {
  const auto cases = [] {
    std::vector<Case> all;
    all.push_back(Case("add") << numbers({2, 3}) << numbers({3}));
    all.push_back(Case("where") << numbers({2, 1}, OF_BOOL) << numbers({2, 3}) << numbers({3}));
    all.push_back(Case("sum") << numbers({2, 3, 4}) << 1);
    all.push_back(Case("var") << numbers({2, 3, 4}) << 0 << true);
    all.push_back(Case("cumsum") << numbers({2, 3}) << 1);
    all.push_back(Case("max.dim") << numbers({4, 3}) << 1);
    all.push_back(Case("matmul") << numbers({5, 2, 3}) << numbers({5, 3, 4}));
    all.push_back((Case("einsum") << "bij,bjk,k->bki").list({numbers({2, 3, 4}), numbers({2, 4, 5}), numbers({5})}));
    all.push_back((Case("einsum") << "ii->i").list({numbers({3, 3})}));
    all.push_back(Case("linear") << numbers({2, 3}) << numbers({4, 3}) << numbers({4}));
    all.push_back(Case("index_select") << numbers({2, 3}) << 1 << indices({5}));
    all.push_back(Case("gather") << numbers({2, 3}) << 0 << indices({4, 3}));
    all.push_back(Case("transpose") << numbers({2, 3, 4}) << 0 << 2);
    all.push_back(Case("select") << numbers({2, 3, 4}) << 1 << 2);
    all.push_back(Case("diagonal") << numbers({2, 3, 4}) << 1 << 1 << 2);
    all.push_back((Case("flip") << numbers({2, 3})).dims({1}));
    all.push_back(Case("softmax") << numbers({2, 3}) << 1);
    all.push_back(Case("log_softmax") << numbers({2, 3}) << 0);
    all.push_back((Case("roll") << numbers({2, 5})).dims({1}).dims({1}));
    all.push_back(Case("stack").list({numbers({2, 3}), numbers({2, 3})}) << 0);
    all.push_back(Case("cat").list({numbers({2, 3}), numbers({4, 3})}) << 0);
    all.push_back(Case("sort") << numbers({2, 3}) << 1);
    all.push_back(Case("flatten") << numbers({2, 3, 4}) << 1);
    all.push_back(Case("squeeze") << numbers({2, 1, 3}));
    return all;
  };
  const size_t count = cases().size();
  int tried = 0;
  for (size_t i = 0; i < count; ++i) {
    const Case whole = std::move(cases()[i]);
    const TensorRef expected = first_result(whole);
    const DimensionMap map = dimension_map(*whole.op, whole.arguments);
    for (int dim = 0; dim < expected->rank(); ++dim) {
      Case part = std::move(cases()[i]);
      if (expected->size(dim) < 2 || !narrow_operands(part, map, dim)) continue;
      ++tried;
      EXPECT_EQ(values(*first_result(part)), values(*narrow(*expected, dim, {0, 1})))
          << whole.op->schema().name << ", dimension " << dim << " of the result";
    }
  }
  EXPECT_GT(tried, 25);
}

TEST(DimensionMap, IsUnknownWhereSizesDependOnData) {
  const Case call = std::move(Case("nonzero") << numbers({2, 3}));
  EXPECT_THROW(dimension_map(*call.op, call.arguments), Error);
}

}  // namespace
}  // namespace oneflow
