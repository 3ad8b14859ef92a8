// Tests dimension maps: the links of calls of every kind, and that they are true, by computing with parts of operands.
#include "dispatch/dimension_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "dispatch/dispatch.h"
#include "ops/parts.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

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

TEST(DimensionMap, OfElementwiseAndGenerators) {
  EXPECT_EQ(links(Case("add") << numbers({2, 3}) << numbers({3})), "0.0->0 same, 0.1->1 same, 1.0->1 same");
  EXPECT_EQ(links(Case("add") << numbers({2, 1}) << numbers({4, 1, 3})),
            "0.0->1 same, 0.1->2 broadcast, 1.0->0 same, 1.1->1 broadcast, 1.2->2 same");
  EXPECT_EQ(links(Case("add") << numbers({2}) << 1.5), "0.0->0 same");
  EXPECT_EQ(links(Case("zeros").dims({2, 3})), "");
  EXPECT_EQ(links(Case("zeros_like") << numbers({2, 3})), "0.0->0 same, 0.1->1 same");
}

TEST(DimensionMap, OfFolds) {
  EXPECT_EQ(links(Case("sum") << numbers({2, 3})), "0.0->- folded, 0.1->- folded");
  EXPECT_EQ(links(Case("sum") << numbers({2, 3, 4}) << 1), "0.0->0 same, 0.1->- folded, 0.2->1 same");
  EXPECT_EQ(links(Case("sum") << numbers({2, 3}) << -2 << true), "0.0->0 folded, 0.1->1 same");
  EXPECT_EQ(links(Case("max.dim") << numbers({2, 3}) << 0), "0.0->- folded, 0.1->0 same");
  EXPECT_EQ(links(Case("cumsum") << numbers({2, 3}) << 1), "0.0->0 same, 0.1->1 folded");
}

TEST(DimensionMap, OfContractions) {
  EXPECT_EQ(links(Case("matmul") << numbers({5, 2, 3}) << numbers({3, 4})),
            "0.0->0 same, 0.1->1 same, 0.2->- contracted, 1.0->- contracted, 1.1->2 same");
  EXPECT_EQ(links((Case("einsum") << "ii,ij->ji").list({numbers({3, 3}), numbers({1, 4})})),
            "0.0->1 same, 0.1->1 same, 1.0->1 broadcast, 1.1->0 same");
  EXPECT_EQ(links(Case("linear") << numbers({2, 3}) << numbers({4, 3}) << numbers({4})),
            "0.0->0 same, 0.1->- contracted, 1.0->1 same, 1.1->- contracted, 2.0->1 same");
}

TEST(DimensionMap, OfGathers) {
  EXPECT_EQ(links(Case("index_select") << numbers({2, 3}) << 1 << indices({5})),
            "0.0->0 same, 0.1->1 indexed, 1.0->1 same");
  EXPECT_EQ(links(Case("gather") << numbers({2, 3}) << 0 << indices({4, 2})),
            "0.0->0 indexed, 0.1->1 windowed 0+1i, 1.0->0 same, 1.1->1 same");
}

TEST(DimensionMap, OfViews) {
  const TensorRef cube = numbers({2, 3, 4});
  EXPECT_EQ(links(Case("transpose") << cube << 0 << -1), "0.0->2 same, 0.1->1 same, 0.2->0 same");
  EXPECT_EQ(links(Case("unsqueeze") << numbers({2, 3}) << 1), "0.0->0 same, 0.1->2 same");
  EXPECT_EQ(links(Case("squeeze") << numbers({2, 1, 3})), "0.0->0 same, 0.1->- indexed, 0.2->1 same");
  EXPECT_EQ(links(Case("expand") << numbers({1, 3}) << Shape{4, 2, 3}), "0.0->1 broadcast, 0.1->2 same");
  EXPECT_EQ(links(Case("select") << cube << 1 << 2), "0.0->0 same, 0.1->- indexed, 0.2->1 same");
  EXPECT_EQ(links(Case("slice") << cube << 2 << 1 << kNone << 2), "0.0->0 same, 0.1->1 same, 0.2->2 windowed 1+2i");
  EXPECT_EQ(links(Case("slice") << cube << 2), "0.0->0 same, 0.1->1 same, 0.2->2 same");
  EXPECT_EQ(links(Case("narrow") << cube << 0 << 1 << 1), "0.0->0 windowed 1+1i, 0.1->1 same, 0.2->2 same");
  EXPECT_EQ(links(Case("diagonal") << cube << 1 << 1 << 2), "0.0->0 same, 0.1->1 windowed 0+1i, 0.2->1 windowed 1+1i");
  EXPECT_EQ(links((Case("flip") << numbers({2, 3})).dims({1})), "0.0->0 same, 0.1->1 windowed 2+-1i");
  EXPECT_EQ(links(Case("view_as_complex") << numbers({3, 2})), "0.0->0 same, 0.1->- indexed");
  EXPECT_EQ(links((Case("as_strided") << numbers({2, 3})).dims({4}).dims({1})), "0.0->0 opaque, 0.1->0 opaque");
}

TEST(DimensionMap, OfChangesOfShape) {
  const auto reshape = [](const Shape& from, const Shape& to) {
    return links((Case("reshape") << numbers(from)).dims(to));
  };
  EXPECT_EQ(reshape({2, 12}, {2, 3, 4}), "0.0->0 same, 0.1->1 split 0+4i, 0.1->2 split 0+1i");
  EXPECT_EQ(reshape({2, 3, 4}, {6, 4}), "0.0->0 merged, 0.1->0 merged, 0.2->1 same");
  EXPECT_EQ(reshape({2, 1, 3}, {2, 3, 1}), "0.0->0 same, 0.1->- indexed, 0.2->1 same");
  EXPECT_EQ(reshape({4, 6}, {3, 8}), "0.0->0 opaque, 0.0->1 opaque, 0.1->0 opaque, 0.1->1 opaque");
  EXPECT_EQ(reshape({1}, {}), "0.0->- indexed");
  EXPECT_EQ(reshape({}, {1, 1}), "");
  EXPECT_EQ(reshape({0, 3}, {0}), "0.0->0 same, 0.1->- indexed");
  EXPECT_EQ(links(Case("flatten") << numbers({2, 3, 4}) << 1), "0.0->0 same, 0.1->1 merged, 0.2->1 merged");
}

TEST(DimensionMap, OfComposites) {
  EXPECT_EQ(links(Case("softmax") << numbers({2, 3}) << 1), "0.0->0 same, 0.1->1 folded");
  EXPECT_EQ(links(Case("split") << numbers({2, 5}) << 2 << 1), "0.0->0 same, 0.1->1 windowed 0+1i");
  EXPECT_EQ(links(Case("unbind") << numbers({2, 5}) << 0), "0.0->- indexed, 0.1->0 same");
  EXPECT_EQ(links((Case("roll") << numbers({2, 5})).dims({1}).dims({1})), "0.0->0 same, 0.1->1 opaque");
  EXPECT_EQ(links(Case("kron") << numbers({2}) << numbers({3})), "0.0->0 merged, 1.0->0 merged");
  EXPECT_EQ(links((Case("stack")).list({numbers({2}), numbers({2})}) << 0), "0.0->1 same, 1.0->1 same");
}

TEST(DimensionMap, OfNativesAndCollectives) {
  EXPECT_EQ(links(Case("cat").list({numbers({2, 3}), numbers({4, 3})}) << 0),
            "0.0->0 opaque, 0.1->1 same, 1.0->0 opaque, 1.1->1 same");
  EXPECT_EQ(links(Case("sort") << numbers({2, 3}) << 1), "0.0->0 same, 0.1->1 opaque");
  EXPECT_EQ(links(Case("contiguous") << numbers({2, 3})), "0.0->0 same, 0.1->1 same");
  EXPECT_EQ(links(Case("complex") << numbers({2, 1}) << numbers({3})), "0.0->0 same, 0.1->1 broadcast, 1.0->1 same");
  EXPECT_EQ(links((Case("index") << numbers({2, 3})).list({indices({4})})),
            "0.0->0 opaque, 0.0->1 opaque, 0.1->0 opaque, 0.1->1 opaque, 1.0->0 opaque, 1.0->1 opaque");
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
