// Scalars: single numbers, and their conversion to and from elements of any dtype.
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
// Returns a scalar of kind INT if the value fits in int64, and of kind UINT otherwise.
of_scalar natural_scalar(uint64_t value);

// Returns the number of an of_value of kind BOOL, INT, UINT or FLOAT. Throws InternalError for other kinds.
of_scalar scalar_of(const of_value& value);
// Returns whether a value is of kind BOOL, INT or FLOAT.
inline bool is_number(const of_value& value) {
  return value.kind == OF_VALUE_BOOL || value.kind == OF_VALUE_INT || value.kind == OF_VALUE_UINT ||
         value.kind == OF_VALUE_FLOAT;
}

// Converts a scalar to double, rounding to nearest.
double to_double(const of_scalar& scalar);
// Converts a scalar to int64: FLOAT is truncated towards zero and saturated, and NaN gives 0; UINT wraps around.
int64_t to_int64(const of_scalar& scalar);

// Returns whether the dtype can hold the scalar. Floating-point, complex and bool dtypes hold every scalar; an integer
// dtype holds the integers in its range, but no scalar of kind FLOAT.
bool fits(const of_scalar& scalar, of_dtype dtype);

// Throws InvalidArgument if the scalar, truncated towards zero, is outside the range of an integer dtype. `name` is the
// argument's name in the error text.
void check_fits(const of_scalar& scalar, of_dtype dtype, const char* name);

// Reads one element of a real dtype from `address`, which may be unaligned. The parts of a complex element are read
// separately.
of_scalar read_element(const void* address, of_dtype dtype);
// Writes one element of a real dtype to `address`, which may be unaligned. Converts as a cast does: integers wrap
// around, floating-point numbers are rounded to nearest even, and any number other than zero is true.
void write_element(void* address, of_dtype dtype, const of_scalar& scalar);

// Returns a scalar as an element of a real dtype holds it, converted as by write_element().
of_scalar rounded(const of_scalar& scalar, of_dtype dtype);

// Formats a scalar as in error texts: "1", "2.5", "True".
std::string to_text(const of_scalar& scalar);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SCALAR_H_
