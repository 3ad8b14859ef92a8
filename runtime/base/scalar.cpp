#include "base/scalar.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/dtype.h"
#include "base/dtype_visit.h"
#include "base/error.h"

namespace oneflow {
namespace {

// Truncates towards zero and saturates, because a plain cast is undefined outside the range; NaN gives 0.
template <class Integer>
Integer truncate(double value) {
  constexpr double kEnd = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return std::numeric_limits<Integer>::max();
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min())) return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(value);
}

// Converts an integer to double by rounding to odd: sets the last of the bits that are kept if there are others.
// Rounding the result to a type of 16 bits then gives the same number as rounding the integer directly.
template <class Integer>
double round_to_odd(Integer value) {
  constexpr Integer kBelow = 0x7ff, kAbove = Integer{1} << 53;  // a double has 11 bits less
  if (value < kAbove && (std::is_unsigned_v<Integer> || value > Integer{0} - kAbove)) return static_cast<double>(value);
  return static_cast<double>((value & ~kBelow) | (value & kBelow ? kBelow + 1 : 0));
}

// Converts a scalar to double, for rounding to a type of 16 bits.
double to_odd_double(const of_scalar& scalar) {
  if (scalar.kind == OF_SCALAR_FLOAT) return scalar.as.real;
  return scalar.kind == OF_SCALAR_UINT ? round_to_odd(scalar.as.natural) : round_to_odd(scalar.as.integer);
}

// Converts a scalar to an element of type T, as a cast does.
template <class T>
T convert(const of_scalar& scalar) {
  const bool is_real = scalar.kind == OF_SCALAR_FLOAT;
  if constexpr (std::is_same_v<T, bool>) {
    return is_real ? scalar.as.real != 0 : scalar.as.integer != 0;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(to_odd_double(scalar));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(to_odd_double(scalar));
  } else if constexpr (std::is_floating_point_v<T>) {
    // Integers are converted directly: converting to double first would round twice.
    if (is_real) return static_cast<T>(scalar.as.real);
    return scalar.kind == OF_SCALAR_UINT ? static_cast<T>(scalar.as.natural) : static_cast<T>(scalar.as.integer);
  } else if (is_real && std::is_same_v<T, uint64_t> && scalar.as.real > 0) {
    return static_cast<T>(truncate<uint64_t>(scalar.as.real));
  } else {
    return static_cast<T>(to_int64(scalar));
  }
}

}  // namespace

of_scalar natural_scalar(uint64_t value) {
  if (value <= static_cast<uint64_t>(INT64_MAX)) return int_scalar(static_cast<int64_t>(value));
  of_scalar scalar{OF_SCALAR_UINT, {}};
  scalar.as.natural = value;
  return scalar;
}

of_scalar scalar_of(const of_value& value) {
  switch (value.kind) {
    case OF_VALUE_BOOL:
      return bool_scalar(value.as.boolean);
    case OF_VALUE_INT:
      return int_scalar(value.as.integer);
    case OF_VALUE_UINT:
      return natural_scalar(value.as.natural);
    case OF_VALUE_FLOAT:
      return float_scalar(value.as.real);
    default:
      fail(OF_INTERNAL_ERROR, "a value of kind %d is not a number", value.kind);
  }
}

double to_double(const of_scalar& scalar) {
  switch (scalar.kind) {
    case OF_SCALAR_FLOAT:
      return scalar.as.real;
    case OF_SCALAR_UINT:
      return static_cast<double>(scalar.as.natural);
    case OF_SCALAR_BOOL:
    case OF_SCALAR_INT:
      break;
  }
  return static_cast<double>(scalar.as.integer);
}

int64_t to_int64(const of_scalar& scalar) {
  if (scalar.kind == OF_SCALAR_FLOAT) return truncate<int64_t>(scalar.as.real);
  return scalar.as.integer;  // for UINT, the bits of `natural`
}

bool fits(const of_scalar& scalar, of_dtype dtype) {
  if (dtype == OF_BOOL || !is_integral(dtype)) return true;
  if (scalar.kind == OF_SCALAR_FLOAT) return false;
  if (scalar.kind == OF_SCALAR_UINT) return dtype == OF_UINT64;
  const int64_t value = scalar.as.integer;
  const int bits = static_cast<int>(dtype_size(dtype)) * 8;
  if (!kDTypes[dtype].is_signed) return value >= 0 && (bits == 64 || value >> bits == 0);
  return bits == 64 || (value >> (bits - 1) == 0 || value >> (bits - 1) == -1);
}

void check_fits(const of_scalar& scalar, of_dtype dtype, const char* name) {
  of_scalar whole = scalar;
  if (scalar.kind == OF_SCALAR_FLOAT && is_integral(dtype)) {
    const double real = std::trunc(scalar.as.real);
    if (real >= -0x1p63 && real < 0x1p63)
      whole = int_scalar(static_cast<int64_t>(real));
    else if (real > 0 && real < 0x1p64)
      whole = natural_scalar(static_cast<uint64_t>(real));
  }
  if (!fits(whole, dtype))
    fail(OF_INVALID_ARGUMENT, "%s must fit into %s, got %s", name, dtype_name(dtype), to_text(scalar).c_str());
}

of_scalar read_element(const void* address, of_dtype dtype) {
  return visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_same_v<T, bool>) {
      // Foreign memory may hold bytes other than 0 and 1.
      return bool_scalar(*static_cast<const uint8_t*>(address) != 0);
    } else {
      T value;
      std::memcpy(&value, address, sizeof(T));
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
        return float_scalar(to_float(value));
      else if constexpr (std::is_floating_point_v<T>)
        return float_scalar(value);
      else if constexpr (std::is_same_v<T, uint64_t>)
        return natural_scalar(value);
      else
        return int_scalar(value);
    }
  });
}

void write_element(void* address, of_dtype dtype, const of_scalar& scalar) {
  visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T value = convert<T>(scalar);
    std::memcpy(address, &value, sizeof(T));
  });
}

of_scalar rounded(const of_scalar& scalar, of_dtype dtype) {
  alignas(8) char element[8];
  write_element(element, dtype, scalar);
  return read_element(element, dtype);
}

std::string to_text(const of_scalar& scalar) {
  switch (scalar.kind) {
    case OF_SCALAR_BOOL:
      return scalar.as.integer ? "True" : "False";
    case OF_SCALAR_INT:
      return std::to_string(scalar.as.integer);
    case OF_SCALAR_UINT:
      return std::to_string(scalar.as.natural);
    case OF_SCALAR_FLOAT:
      break;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), scalar.as.real).ptr;
  std::string text(digits, end);
  if (std::isfinite(scalar.as.real) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace oneflow
