// Products of matrices, and sums of products.
#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

using Dims = std::vector<int64_t>;

// Returns a type that runtimes have products for.
DType wide(DType dtype) {
  if (is_floating(dtype)) return dtype == bfloat16 ? float32 : dtype;
  return dtype == int64 || dtype == uint32 || dtype == uint64 ? int64 : int32;
}

// Returns a product of two operands.
template <const char* first, const char* second>
std::vector<Name> product(const ExportCall& call) {
  const DType dtype = wide(call.result_dtype());
  const Name found = call.out().add("MatMul", {call.tensor(first, dtype), call.tensor(second, dtype)});
  return {call.out().cast(found, dtype, call.result_dtype())};
}
constexpr char kInput[] = "input", kOther[] = "other", kMatrix[] = "mat2", kVector[] = "vec", kTensor[] = "tensor";

std::vector<Name> linear_map(const ExportCall& call) {
  const DType dtype = call.result_dtype();
  const Name x = call.tensor("input", dtype), weight = call.tensor("weight", dtype);
  if (call.rank("input") == 2 && call.rank("weight") == 2 && is_floating(dtype)) {
    std::vector<Name> operands{x, weight};
    if (call.has("bias")) operands.push_back(call.tensor("bias", dtype));
    return {call.out().add("Gemm", operands, {{"transB", int64_t{1}}})};
  }
  const bool is_matrix = call.rank("weight") == 2;
  const Name matrix = is_matrix ? call.out().add("Transpose", {weight}, {{"perm", Dims{1, 0}}}) : weight;
  const Name found = call.out().add("MatMul", {x, matrix});
  return {call.has("bias") ? call.out().add("Add", {found, call.tensor("bias", dtype)}) : found};
}

Name einsum_of(const ExportCall& call, const std::string& equation, const std::vector<Name>& operands, DType dtype) {
  return call.out().cast(call.out().add("Einsum", operands, {{"equation", equation}}), dtype, call.result_dtype());
}

std::vector<Name> einsum_call(const ExportCall& call) {
  const std::string equation(call.text("equation"));
  const auto is_in_onnx = [](char each) {
    return std::isalpha(static_cast<unsigned char>(each)) || std::string_view(" .,->").find(each) != std::string::npos;
  };
  if (!std::ranges::all_of(equation, is_in_onnx)) throw Unsupported("labels of Einsum are the letters from a to z");
  const DType dtype = wide(call.result_dtype());
  std::vector<Name> operands;
  for (const int32_t value : call.values("operands"))
    operands.push_back(
        call.out().cast(call.out().value(value), static_cast<DType>(call.out().type(value).dtype), dtype));
  return {einsum_of(call, equation, operands, dtype)};
}

std::string letters(size_t first, size_t count) {
  std::string found;
  for (size_t i = first; i < first + count; ++i) {
    if (i >= 26) throw Unsupported("labels of Einsum are letters, of which there are too few");
    found += static_cast<char>('a' + i);
  }
  return found;
}

std::vector<Name> contracted(const ExportCall& call, Dims left, Dims right) {
  const auto left_rank = static_cast<size_t>(call.rank("input")), right_rank = static_cast<size_t>(call.rank("other"));
  std::string first = letters(0, left_rank), second = letters(left_rank, right_rank), result;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto from = static_cast<size_t>(left[i] < 0 ? left[i] + call.rank("input") : left[i]);
    second[static_cast<size_t>(right[i] < 0 ? right[i] + call.rank("other") : right[i])] = first[from];
  }
  for (const char label : first)
    if (second.find(label) == std::string::npos) result += label;
  for (const char label : second)
    if (first.find(label) == std::string::npos) result += label;
  const DType dtype = wide(call.result_dtype());
  return {einsum_of(call, first + "," + second + "->" + result,
                    {call.tensor("input", dtype), call.tensor("other", dtype)}, dtype)};
}

std::vector<Name> tensor_product(const ExportCall& call) {
  const int64_t count = call.integer("dims"), rank = call.rank("input");
  Dims left(static_cast<size_t>(count)), right(static_cast<size_t>(count));
  std::iota(left.begin(), left.end(), rank - count);
  std::iota(right.begin(), right.end(), int64_t{0});
  return contracted(call, left, right);
}

std::vector<Name> tensor_product_of_dims(const ExportCall& call) {
  return contracted(call, call.integers("dims_input"), call.integers("dims_other"));
}

std::vector<Name> inner_product(const ExportCall& call) {
  if (call.rank("input") == 0 || call.rank("other") == 0) throw Unsupported("an inner product with a scalar");
  return contracted(call, {-1}, {-1});
}

std::vector<Name> outer_product(const ExportCall& call) {
  const DType dtype = wide(call.result_dtype());
  const Name column = call.out().unsqueeze(call.tensor("input", dtype), {1});
  const Name row = call.out().unsqueeze(call.tensor("vec2", dtype), {0});
  return {call.out().cast(call.out().add("Mul", {column, row}), dtype, call.result_dtype())};
}

std::vector<Name> chain(const ExportCall& call) {
  const DType dtype = wide(call.result_dtype());
  Name found;
  for (const int32_t value : call.values("tensors")) {
    const Name factor =
        call.out().cast(call.out().value(value), static_cast<DType>(call.out().type(value).dtype), dtype);
    found = found.empty() ? factor : call.out().add("MatMul", {found, factor});
  }
  return {call.out().cast(found, dtype, call.result_dtype())};
}

constexpr std::array kOperators{
    ExportedOperator{"bmm", product<kInput, kMatrix>},
    ExportedOperator{"dot", product<kInput, kTensor>},
    ExportedOperator{"einsum", einsum_call},
    ExportedOperator{"einsum.bool", einsum_call},
    ExportedOperator{"einsum.pairs", einsum_call},
    ExportedOperator{"inner", inner_product},
    ExportedOperator{"linalg.multi_dot", chain},
    ExportedOperator{"linear", linear_map},
    ExportedOperator{"matmul", product<kInput, kOther>},
    ExportedOperator{"mm", product<kInput, kMatrix>},
    ExportedOperator{"mv", product<kInput, kVector>},
    ExportedOperator{"outer", outer_product},
    ExportedOperator{"tensordot", tensor_product},
    ExportedOperator{"tensordot.dims", tensor_product_of_dims},
};

}  // namespace

std::span<const ExportedOperator> exported_products() { return kOperators; }

}  // namespace oneflow::onnx
