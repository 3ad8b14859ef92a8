#include <cstring>

#include "entries.h"

namespace oneflow::grid {
namespace {

// Converts to an integer as elements are converted: a value out of range becomes the lowest integer. Values from 2^63
// to 2^64 become the bits of an unsigned integer.
int64_t to_integer(double value) {
  if (value >= -9223372036854775808.0 && value < 9223372036854775808.0) return static_cast<int64_t>(value);
  if (value >= 9223372036854775808.0 && value < 18446744073709551616.0)
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  return INT64_MIN;
}

// Writes a value; returns its size in bytes.
template <class T>
uint32_t put(T value, void* bytes) {
  std::memcpy(bytes, &value, sizeof value);
  return sizeof value;
}

of_scalar scalar_of(const of_value& value) {
  of_scalar scalar{};
  switch (value.kind) {
    case OF_VALUE_FLOAT:
      scalar.kind = OF_SCALAR_FLOAT;
      scalar.as.real = value.as.real;
      break;
    case OF_VALUE_INT:
      scalar.kind = OF_SCALAR_INT;
      scalar.as.integer = value.as.integer;
      break;
    case OF_VALUE_UINT:
      scalar.kind = OF_SCALAR_UINT;
      scalar.as.natural = value.as.natural;
      break;
    case OF_VALUE_BOOL:
      scalar.kind = OF_SCALAR_BOOL;
      scalar.as.integer = value.as.boolean;
      break;
    default:
      break;  // an argument that was not given: 0
  }
  return scalar;
}

}  // namespace

uint32_t put_number(const of_scalar& number, of_dtype type, void* bytes) {
  const bool is_real = number.kind == OF_SCALAR_FLOAT, is_natural = number.kind == OF_SCALAR_UINT;
  switch (type) {
    case OF_FLOAT32:
      return put(is_real      ? static_cast<float>(number.as.real)
                 : is_natural ? static_cast<float>(number.as.natural)
                              : static_cast<float>(number.as.integer),
                 bytes);
    case OF_FLOAT64:
      return put(is_real      ? number.as.real
                 : is_natural ? static_cast<double>(number.as.natural)
                              : static_cast<double>(number.as.integer),
                 bytes);
    case OF_BOOL:
      return put(static_cast<uint8_t>(is_real ? number.as.real != 0 : number.as.integer != 0), bytes);
    case OF_INT32: {
      const int64_t integer = is_real ? to_integer(number.as.real) : number.as.integer;
      const bool fits = !is_real || (integer >= INT32_MIN && integer <= INT32_MAX);
      return put(fits ? static_cast<int32_t>(integer) : INT32_MIN, bytes);
    }
    default:
      return put(is_real ? to_integer(number.as.real) : number.as.integer, bytes);
  }
}

Settings::Settings(std::span<const Setting> settings, of_dtype compute, const of_value* values)
    : count_(settings.size()) {
  for (size_t i = 0; i < count_; ++i) {
    const of_value& value = values[settings[i].position];
    if (settings[i].given) {
      values_[i].size = put(static_cast<uint8_t>(value.kind != OF_VALUE_NONE), values_[i].bytes);
    } else {
      values_[i].size = put_number(scalar_of(value), dtype_of(settings[i].form, compute), values_[i].bytes);
    }
  }
}

void Settings::add_to(Arguments& arguments) const {
  for (size_t i = 0; i < count_; ++i) arguments.bytes(values_[i].bytes, values_[i].size);
}

}  // namespace oneflow::grid
