// The parameters of hand-written functions.
#ifndef ONEFLOW_PYTHON_PARAMETERS_H_
#define ONEFLOW_PYTHON_PARAMETERS_H_

#include <oneflow/objects.h>

namespace oneflow::python {

constexpr of_type type_of(of_type_kind kind, const char* word, const of_type* items = nullptr) {
  return {kind, false, word, nullptr, 0, items, nullptr};
}

// Returns a type that also has None.
constexpr of_type or_none(of_type type) {
  type.is_optional = true;
  return type;
}

inline constexpr of_type kAnyType = or_none(type_of(OF_TYPE_VALUE, "any"));  // the function checks the object itself
inline constexpr of_type kTensorType = type_of(OF_TYPE_WRITTEN, "Tensor");   // nothing else stands for it
inline constexpr of_type kNumberType = type_of(OF_TYPE_NUMBER, "int or bool");
inline constexpr of_type kBoolType = type_of(OF_TYPE_BOOL, "bool");
inline constexpr of_type kIntType = type_of(OF_TYPE_INT, "int");
inline constexpr of_type kStringType = type_of(OF_TYPE_STRING, "str");
inline constexpr of_type kDTypeType = type_of(OF_TYPE_DTYPE, "dtype");
inline constexpr of_type kDeviceType = type_of(OF_TYPE_DEVICE, "device");

inline constexpr of_type kTensorOrNone = or_none(kTensorType);
inline constexpr of_type kBoolOrNone = or_none(kBoolType);
inline constexpr of_type kIntOrNone = or_none(kIntType);
inline constexpr of_type kStringOrNone = or_none(kStringType);
inline constexpr of_type kDTypeOrNone = or_none(kDTypeType);
inline constexpr of_type kDeviceOrNone = or_none(kDeviceType);

// Returns a parameter that may be passed by position.
constexpr of_parameter required(const char* name, const of_type& type) {
  return {name, &type, true, false, OF_COLLECTS_NOTHING, nullptr};
}
constexpr of_parameter optional(const char* name, const of_type& type) {
  return {name, &type, false, false, OF_COLLECTS_NOTHING, nullptr};
}
// Returns a parameter that may be passed by name only.
constexpr of_parameter optional_keyword(const char* name, const of_type& type) {
  return {name, &type, false, true, OF_COLLECTS_NOTHING, nullptr};
}

// Returns the overload of a hand-written function with one result.
template <size_t count>
constexpr of_overload hand_written(const of_parameter (&parameters)[count], bool has_out = false) {
  of_overload overload = {};
  overload.parameters = parameters;
  overload.parameter_count = static_cast<int32_t>(count);
  for (const of_parameter& each : parameters) overload.positional_count += !each.is_named;
  overload.result_count = 1;
  overload.receiver = overload.replaced = overload.written = overload.viewed = -1;
  overload.has_out = has_out;
  return overload;
}

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_PARAMETERS_H_
