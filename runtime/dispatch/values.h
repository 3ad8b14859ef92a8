// Converts C++ values to of_value, for calls of operators and for the defaults in the generated schemas.
#ifndef ONEFLOW_DISPATCH_VALUES_H_
#define ONEFLOW_DISPATCH_VALUES_H_

#include <oneflow/types.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "base/shape.h"
#include "tensor/generator.h"
#include "tensor/tensor.h"

namespace oneflow {

// Stands for the default of an argument.
inline constexpr of_value kDefault{OF_VALUE_ABSENT, 0, {}};
inline constexpr of_value kNone{OF_VALUE_NONE, 0, {}};

// Returns a C++ value as an of_value, which borrows strings, lists and tensors.
constexpr of_value to_value(const of_value& value) { return value; }
constexpr of_value to_value(bool value) { return {OF_VALUE_BOOL, 0, {.boolean = value}}; }
constexpr of_value to_value(int64_t value) { return {OF_VALUE_INT, 0, {.integer = value}}; }
constexpr of_value to_value(int value) { return to_value(static_cast<int64_t>(value)); }
constexpr of_value to_value(double value) { return {OF_VALUE_FLOAT, 0, {.real = value}}; }
constexpr of_value to_value(const char* text) {
  return {OF_VALUE_STRING, static_cast<int32_t>(std::string_view(text).size()), {.string = text}};
}
inline of_value to_value(std::string_view text) {
  return {OF_VALUE_STRING, static_cast<int32_t>(text.size()), {.string = text.data()}};
}
constexpr of_value to_value(of_dtype dtype) { return {OF_VALUE_DTYPE, 0, {.dtype = dtype}}; }
constexpr of_value to_value(of_device device) { return {OF_VALUE_DEVICE, 0, {.device = device}}; }
inline of_value to_value(Sizes integers) {
  return {OF_VALUE_INT_LIST, static_cast<int32_t>(integers.size()), {.integers = integers.data()}};
}
// A list of constants, as the default of an argument.
template <int64_t... items>
inline constexpr std::array<int64_t, sizeof...(items)> kList = {items...};
template <size_t count>
constexpr of_value to_value(const std::array<int64_t, count>& integers) {
  return {OF_VALUE_INT_LIST, static_cast<int32_t>(count), {.integers = integers.data()}};
}
inline constexpr of_value kNoTensors{OF_VALUE_TENSOR_LIST, 0, {}};
inline of_value to_value(const Shape& integers) { return to_value(Sizes(integers)); }
inline of_value to_value(const Tensor& tensor) {
  return {OF_VALUE_TENSOR, 0, {.tensor = to_handle(const_cast<Tensor*>(&tensor))}};
}
inline of_value to_value(const TensorRef& tensor) { return to_value(*tensor); }
inline of_value to_value(Generator& generator) { return {OF_VALUE_GENERATOR, 0, {.generator = to_handle(&generator)}}; }
inline of_value to_value(const Ref<Generator>& generator) { return to_value(*generator); }
inline of_value to_value(std::span<of_tensor> tensors) {
  return {OF_VALUE_TENSOR_LIST, static_cast<int32_t>(tensors.size()), {.tensors = tensors.data()}};
}
template <size_t count>
of_value to_value(const std::array<of_tensor, count>& tensors) {
  return {OF_VALUE_TENSOR_LIST, static_cast<int32_t>(count), {.tensors = const_cast<of_tensor*>(tensors.data())}};
}

// Returns a list of integers, for the generated bodies of composites.
template <class... Items>
std::array<int64_t, sizeof...(Items)> integer_list(const Items&... items) {
  return {static_cast<int64_t>(items)...};
}
// Returns a list of tensor values, for the generated bodies of composites. The list borrows the tensors.
template <class... Items>
std::array<of_tensor, sizeof...(Items)> tensor_list(const Items&... items) {
  return {to_value(items).as.tensor...};
}

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_VALUES_H_
