// Operators that fold dimensions.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

// Returns the dimensions that a call folds; none stands for all.
Dims folded(const ExportCall& call) {
  bool has_dim = false;
  for (int32_t i = 0; i < call.info().argument_count; ++i)
    has_dim |= std::string_view(call.info().arguments[i].name) == "dim";
  if (!has_dim || !call.has("dim")) return {};
  Dims dims = call.integers("dim");
  for (int64_t& dim : dims) dim += dim < 0 ? call.rank("input") : 0;
  return dims;
}

bool keeps(const ExportCall& call) {
  for (int32_t i = 0; i < call.info().argument_count; ++i)
    if (std::string_view(call.info().arguments[i].name) == "keepdim") return call.flag("keepdim");
  return false;
}

Name reduced(const ExportCall& call, std::string_view type, const Name& x) {
  // Without dimensions, each element is folded by itself.
  if (call.rank("input") == 0) {
    const Name one = call.out().unsqueeze(x, {0});
    return call.out().reduce(type, one, {0}, false);
  }
  return call.out().reduce(type, x, folded(call), keeps(call));
}

// Sums and the like are computed in a type that runtimes have them for.
DType wide(DType dtype) {
  if (is_half(dtype)) return float32;
  return dtype == float32 || dtype == float64 || dtype == int32 ? dtype : int64;
}

template <const char* type>
std::vector<Name> fold(const ExportCall& call) {
  const DType dtype = wide(call.result_dtype());
  return {call.out().cast(reduced(call, type, call.tensor("input", dtype)), dtype, call.result_dtype())};
}
constexpr char kSum[] = "ReduceSum", kMean[] = "ReduceMean", kProduct[] = "ReduceProd", kMax[] = "ReduceMax",
               kMin[] = "ReduceMin", kSquares[] = "ReduceSumSquare";

template <const char* type>
std::vector<Name> fold_truths(const ExportCall& call) {
  const Name x = call.out().cast(call.tensor("input", bool_), bool_, int32);
  // The largest of no numbers is the smallest of the type, which is true as well.
  return {call.out().add("Greater", {reduced(call, type, x), call.out().number(int32, 0)})};
}

std::vector<Name> sum_of_numbers(const ExportCall& call) {
  const DType dtype = wide(call.result_dtype());
  Name x = call.tensor("input");
  if (is_floating(call.dtype("input")))
    x = call.out().add("Where", {call.out().add("IsNaN", {x}), call.out().number(call.dtype("input"), 0), x});
  x = call.out().cast(x, call.dtype("input"), dtype);
  return {call.out().cast(reduced(call, "ReduceSum", x), dtype, call.result_dtype())};
}

Name position(const ExportCall& call, std::string_view type, int64_t dim, bool keepdim) {
  const DType dtype = wide(call.dtype("input"));
  return call.out().add(type, {call.tensor("input", dtype)}, {{"axis", dim}, {"keepdims", int64_t{keepdim}}});
}

template <const char* type>
std::vector<Name> position_of(const ExportCall& call) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions has no positions");
  if (call.has("dim")) return {position(call, type, call.dim("dim", "input"), call.flag("keepdim"))};
  const Name flat =
      call.out().add("Reshape", {call.tensor("input", wide(call.dtype("input"))), call.out().integers(Dims{-1})});
  const Name found = call.out().add(type, {flat}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
  return {call.flag("keepdim") ? call.out().add("Expand", {found, call.out().integers(call.result_sizes())}) : found};
}
constexpr char kArgMax[] = "ArgMax", kArgMin[] = "ArgMin";

template <const char* type, const char* position_type>
std::vector<Name> extreme_and_position(const ExportCall& call) {
  if (call.rank("input") == 0) throw Unsupported("a tensor without dimensions has no positions");
  const DType dtype = wide(call.result_dtype());
  const int64_t dim = call.dim("dim", "input");
  const bool keepdim = call.flag("keepdim");
  const Name values = call.out().reduce(type, call.tensor("input", dtype), {dim}, keepdim);
  return {call.out().cast(values, dtype, call.result_dtype()), position(call, position_type, dim, keepdim)};
}

// The variance is the sum of squares of the distances from the mean, divided by how many there are less a correction.
std::vector<Name> variance_and_mean(const ExportCall& call, bool is_root, bool gives_mean) {
  const DType dtype = wide(call.result_dtype());
  const int64_t rank = call.rank("input");
  Dims dims = folded(call);
  if (dims.empty())
    for (int64_t dim = 0; dim < rank; ++dim) dims.push_back(dim);
  const bool keepdim = keeps(call);
  const Name x = call.tensor("input", dtype);
  if (rank == 0) throw Unsupported("the variance of a tensor without dimensions");
  const Name mean = call.out().reduce("ReduceMean", x, dims, true);
  const Name distances = call.out().add("Sub", {x, mean});
  const Name squares = call.out().reduce("ReduceSumSquare", distances, dims, keepdim);
  const double correction = call.number("correction");
  int64_t count = 1;
  Name counts;
  for (const int64_t dim : dims) {
    const of_graph_integer& size = call.sizes("input")[static_cast<size_t>(dim)];
    if (is_constant(size)) {
      count *= size.constant;
      continue;
    }
    const Name varying = call.out().cast(call.out().scalar(size), int64, dtype);
    counts = counts.empty() ? varying : call.out().add("Mul", {counts, varying});
  }
  const auto divided = [&](double less) {
    if (counts.empty()) return call.out().number(dtype, std::max(0.0, static_cast<double>(count) - less));
    const Name all = call.out().add("Mul", {counts, call.out().number(dtype, static_cast<double>(count))});
    return call.out().add("Max",
                          {call.out().add("Sub", {all, call.out().number(dtype, less)}), call.out().number(dtype, 0)});
  };
  Name found = call.out().add("Div", {squares, divided(correction)});
  if (is_root) found = call.out().add("Sqrt", {found});
  std::vector<Name> results{call.out().cast(found, dtype, call.result_dtype())};
  if (gives_mean)
    results.push_back(call.out().cast(keepdim ? mean : call.out().squeeze(mean, dims), dtype, call.result_dtype(1)));
  return results;
}

std::vector<Name> variance(const ExportCall& call) { return variance_and_mean(call, false, false); }
std::vector<Name> deviation(const ExportCall& call) { return variance_and_mean(call, true, false); }
std::vector<Name> variance_with_mean(const ExportCall& call) { return variance_and_mean(call, false, true); }

std::vector<Name> running_sum(const ExportCall& call) {
  const DType dtype = wide(call.result_dtype());
  if (call.rank("input") == 0) return {call.tensor("input", call.result_dtype())};
  const Name sum =
      call.out().add("CumSum", {call.tensor("input", dtype), call.out().integer(call.dim("dim", "input"))});
  return {call.out().cast(sum, dtype, call.result_dtype())};
}

constexpr std::array kOperators{
    ExportedOperator{"all", fold_truths<kMin>},
    ExportedOperator{"amax", fold<kMax>},
    ExportedOperator{"amin", fold<kMin>},
    ExportedOperator{"any", fold_truths<kMax>},
    ExportedOperator{"argmax", position_of<kArgMax>},
    ExportedOperator{"argmin", position_of<kArgMin>},
    ExportedOperator{"cumsum", running_sum},
    ExportedOperator{"max", fold<kMax>},
    ExportedOperator{"max.dim", extreme_and_position<kMax, kArgMax>},
    ExportedOperator{"mean", fold<kMean>},
    ExportedOperator{"min", fold<kMin>},
    ExportedOperator{"min.dim", extreme_and_position<kMin, kArgMin>},
    ExportedOperator{"nansum", sum_of_numbers},
    ExportedOperator{"prod", fold<kProduct>},
    ExportedOperator{"square_sum", fold<kSquares>},
    ExportedOperator{"std", deviation},
    ExportedOperator{"sum", fold<kSum>},
    ExportedOperator{"var", variance},
    ExportedOperator{"var_mean", variance_with_mean},
};

}  // namespace

std::span<const ExportedOperator> exported_reductions() { return kOperators; }

}  // namespace oneflow::onnx
