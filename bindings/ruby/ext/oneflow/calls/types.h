// The types of arguments of hand-written functions.
#pragma once

#include <oneflow/objects.h>

#include <span>

namespace oneflow::ruby {

constexpr of_type type_of(of_type_kind kind, const char* word, const of_type* items = nullptr) {
  return {kind, false, word, nullptr, 0, items, nullptr};
}

// Returns a type that also has nil.
constexpr of_type or_nil(of_type type) {
  type.is_optional = true;
  return type;
}

inline constexpr of_type kTensorType = type_of(OF_TYPE_TENSOR, "Tensor");
inline constexpr of_type kIntegerType = type_of(OF_TYPE_INT, "Integer");
inline constexpr of_type kStringType = type_of(OF_TYPE_STRING, "String");
inline constexpr of_type kDTypeType = type_of(OF_TYPE_DTYPE, "dtype");
inline constexpr of_type kDeviceType = type_of(OF_TYPE_DEVICE, "device");

// Returns a parameter that may be passed by position.
constexpr of_parameter required(const char* name, const of_type& type) {
  return {name, &type, true, false, OF_COLLECTS_NOTHING, nullptr};
}
// Returns a parameter that may be passed by name only.
constexpr of_parameter optional(const char* name, const of_type& type) {
  return {name, &type, false, true, OF_COLLECTS_NOTHING, nullptr};
}

// Returns the overload of a hand-written function with one result.
constexpr of_overload hand_written(std::span<const of_parameter> parameters, bool has_out) {
  of_overload overload = {};
  overload.parameters = parameters.data();
  overload.parameter_count = static_cast<int32_t>(parameters.size());
  for (const of_parameter& each : parameters) overload.positional_count += !each.is_named;
  overload.result_count = 1;
  overload.receiver = overload.replaced = overload.written = overload.viewed = -1;
  overload.has_out = has_out;
  return overload;
}

}  // namespace oneflow::ruby
