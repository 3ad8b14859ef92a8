// Operators that make tensors of numbers.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

Name filled(const ExportCall& call, const Number& value) {
  const Tensor element = reshape(element_of(value, call.result_dtype()), {1});
  return call.out().add("ConstantOfShape", {call.out().integers(call.result_sizes())}, {{"value", element}});
}

std::vector<Name> zeros_of(const ExportCall& call) { return {filled(call, 0)}; }
std::vector<Name> ones_of(const ExportCall& call) { return {filled(call, 1)}; }

std::vector<Name> numbers_of(const ExportCall& call) {
  const of_graph_argument& value = call.argument("fill_value");
  if (value.kind == OF_VALUE_INT && !is_constant(value.as.integers[0]))
    return {call.out().add("Expand",
                           {call.tensor("fill_value", call.result_dtype()), call.out().integers(call.result_sizes())})};
  return {filled(call, call.scalar("fill_value"))};
}

// The range is one of integers or of float64, in which no bound is rounded.
std::vector<Name> range_of(const ExportCall& call) {
  const bool has_start = call.name() == "arange.start";
  const auto is_whole = [&](std::string_view name) { return call.argument(name).kind == OF_VALUE_INT; };
  const DType dtype = is_whole("end") && (!has_start || (is_whole("start") && is_whole("step"))) ? int64 : float64;
  const Name start = has_start ? call.tensor("start", dtype) : call.out().number(dtype, 0);
  const Name step = has_start ? call.tensor("step", dtype) : call.out().number(dtype, 1);
  const Name range = call.out().add("Range", {start, call.tensor("end", dtype), step});
  return {call.out().cast(range, dtype, call.result_dtype())};
}

std::vector<Name> line_of(const ExportCall& call) {
  const int64_t steps = call.integer("steps");
  const Tensor line = linspace(call.number("start"), call.number("end"), steps, call.result_dtype());
  return {call.out().constant(line)};
}

std::vector<Name> identity_of(const ExportCall& call) { return {call.out().add("EyeLike", {filled(call, 0)})}; }

template <const char* type>
std::vector<Name> random_numbers(const ExportCall& call) {
  const std::vector<int64_t> shape = known(call.result_sizes(), "a size of random numbers");
  const Name numbers = call.out().add(type, {}, {{"shape", shape}});
  return {call.out().cast(numbers, float32, call.result_dtype())};
}
constexpr char kUniform[] = "RandomUniform", kNormal[] = "RandomNormal";

constexpr std::array kOperators{
    ExportedOperator{"arange", range_of},
    ExportedOperator{"arange.start", range_of},
    ExportedOperator{"empty", zeros_of},
    ExportedOperator{"eye", identity_of},
    ExportedOperator{"full", numbers_of},
    ExportedOperator{"full_like", numbers_of},
    ExportedOperator{"linspace", line_of},
    ExportedOperator{"ones", ones_of},
    ExportedOperator{"ones_like", ones_of},
    ExportedOperator{"rand", random_numbers<kUniform>},
    ExportedOperator{"randn", random_numbers<kNormal>},
    ExportedOperator{"zeros", zeros_of},
    ExportedOperator{"zeros_like", zeros_of},
};

}  // namespace

std::span<const ExportedOperator> exported_creation() { return kOperators; }

}  // namespace oneflow::onnx
