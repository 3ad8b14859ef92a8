// Elementwise operators that ONNX has with attributes. All others are written as their expressions.
#include <array>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

// Returns whether runtimes have an operator of the opset for the type of a call.
bool has(const ExportCall& call, int64_t since) {
  return call.out().opset() >= since && call.result_dtype() == float32;
}

std::vector<Name> cast_to(const ExportCall& call) { return {call.tensor("input", call.result_dtype())}; }

std::vector<Name> gaussian(const ExportCall& call) {
  if (!has(call, 20)) return export_expression(call);
  return {call.out().add("Gelu", {call.tensor("input")}, {{"approximate", std::string(call.text("approximate"))}})};
}

template <const char* type, const char* ours, const char* theirs>
std::vector<Name> with_number(const ExportCall& call) {
  if (!has(call, 12)) return export_expression(call);
  return {call.out().add(type, {call.tensor("input")}, {{theirs, call.number(ours)}})};
}
constexpr char kElu[] = "Elu", kCelu[] = "Celu", kLeaky[] = "LeakyRelu", kAlpha[] = "alpha",
               kSlope[] = "negative_slope";

template <const char* type, int64_t since>
std::vector<Name> without_number(const ExportCall& call) {
  if (!has(call, since)) return export_expression(call);
  return {call.out().add(type, {call.tensor("input")})};
}
constexpr char kHardSwish[] = "HardSwish", kSelu[] = "Selu";

std::vector<Name> clipped(const ExportCall& call) {
  const bool has_ranks = (call.is_tensor("min") && call.rank("min")) || (call.is_tensor("max") && call.rank("max"));
  if (has_ranks || !has(call, 11) || call.dtype("input") != float32) return export_expression(call);
  return {call.out().add("Clip", {call.tensor("input"), call.tensor("min", float32), call.tensor("max", float32)})};
}

constexpr std::array kOperators{
    ExportedOperator{"cast", cast_to},
    ExportedOperator{"celu", with_number<kCelu, kAlpha, kAlpha>},
    ExportedOperator{"clamp", clipped},
    ExportedOperator{"elu", with_number<kElu, kAlpha, kAlpha>},
    ExportedOperator{"gelu", gaussian},
    ExportedOperator{"hardswish", without_number<kHardSwish, 14>},
    ExportedOperator{"leaky_relu", with_number<kLeaky, kSlope, kAlpha>},
    ExportedOperator{"selu", without_number<kSelu, 11>},
};

}  // namespace

std::span<const ExportedOperator> exported_elementwise() { return kOperators; }

}  // namespace oneflow::onnx
