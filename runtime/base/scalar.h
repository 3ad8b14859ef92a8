// Single numbers: reading them from and writing them to memory of any dtype.
#ifndef ONEFLOW_BASE_SCALAR_H_
#define ONEFLOW_BASE_SCALAR_H_

#include <oneflow/types.h>

#include <string>

namespace oneflow {

inline of_scalar bool_scalar(bool value) {
  of_scalar s{OF_SCALAR_BOOL, {}};
  s.as.integer = value;
  return s;
}
inline of_scalar int_scalar(int64_t value) {
  of_scalar s{OF_SCALAR_INT, {}};
  s.as.integer = value;
  return s;
}
inline of_scalar float_scalar(double value) {
  of_scalar s{OF_SCALAR_FLOAT, {}};
  s.as.real = value;
  return s;
}
// INT where the value fits int64, UINT above.
of_scalar natural_scalar(uint64_t value);

// The number of an of_value of kind BOOL, INT or FLOAT; Error(OF_INTERNAL_ERROR) for others.
of_scalar scalar_of(const of_value& value);
inline bool is_number(const of_value& value) {
  return value.kind == OF_VALUE_BOOL || value.kind == OF_VALUE_INT || value.kind == OF_VALUE_FLOAT;
}

// The value as a double, and truncated towards zero as an int64 (wrapping; saturating from floats, 0 for NaN).
double to_double(const of_scalar& scalar);
int64_t to_int64(const of_scalar& scalar);

// Whether the integer `scalar` is inside the range of the dtype, or the dtype is floating, complex or bool. A floating
// scalar fits those only.
bool fits(const of_scalar& scalar, of_dtype dtype);

// InvalidArgument where the number, without its fraction, is outside of the range of an integer dtype.
void check_fits(const of_scalar& scalar, of_dtype dtype, const char* name);

// One element at `address` (aligned or not), of a real dtype: complex ones have a scalar for each part.
of_scalar read_element(const void* address, of_dtype dtype);
// Converts as a cast does: integers wrap, floats are rounded to nearest even, anything but zero is true.
void write_element(void* address, of_dtype dtype, const of_scalar& scalar);

// "1", "2.5", "True": as in error texts.
std::string to_text(const of_scalar& scalar);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SCALAR_H_
