// Conversions between elements of all dtypes and values of the compute type. They are those of the CPU backend:
// integers wrap around, bool is "not zero", floats are rounded once.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_ELEMENT_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_ELEMENT_H_

OF_DEVICE float of_float_of_bfloat16(uint16_t bits) { return OF_FLOAT_OF_BITS((uint32_t)bits << 16); }

// Rounds to nearest, ties to even; keeps NaN.
OF_DEVICE uint16_t of_bfloat16_of_float(float value) {
  const uint32_t bits = OF_BITS_OF_FLOAT(value);
  return value != value ? (uint16_t)0x7fc0 : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Truncate a floating-point value to an integer. NaN and values out of range give the lowest integer.
OF_DEVICE int32_t of_int32_of_float(float x) {
  return x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : (int32_t)0x80000000;
}
OF_DEVICE int64_t of_int64_of_float(float x) {
  return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (int64_t)x : (int64_t)0x8000000000000000;
}
OF_DEVICE uint64_t of_uint64_of_float(float x) {
  return x >= 9223372036854775808.0f && x < 18446744073709551616.0f ? (uint64_t)x : (uint64_t)of_int64_of_float(x);
}
#if OF_HAS_DOUBLE
OF_DEVICE int32_t of_int32_of_double(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : (int32_t)0x80000000;
}
OF_DEVICE int64_t of_int64_of_double(double x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : (int64_t)0x8000000000000000;
}
OF_DEVICE uint64_t of_uint64_of_double(double x) {
  return x >= 9223372036854775808.0 && x < 18446744073709551616.0 ? (uint64_t)x : (uint64_t)of_int64_of_double(x);
}
#endif

// Converts a floating-point value to T.
OF_TEMPLATE(class T)
OF_DEVICE T of_from_float(float x) {
  if (OF_IS_FLOATING(T)) return (T)x;
  if (OF_IS_BOOL(T)) return (T)(x != 0);
  if (OF_IS_UNSIGNED(T)) return (T)of_uint64_of_float(x);
  return sizeof(T) == 4 ? (T)of_int32_of_float(x) : (T)of_int64_of_float(x);
}
#if OF_HAS_DOUBLE
OF_TEMPLATE(class T)
OF_DEVICE T of_from_double(double x) {
  if (OF_IS_FLOATING(T)) return (T)x;
  if (OF_IS_BOOL(T)) return (T)(x != 0);
  if (OF_IS_UNSIGNED(T)) return (T)of_uint64_of_double(x);
  return sizeof(T) == 4 ? (T)of_int32_of_double(x) : (T)of_int64_of_double(x);
}
#endif

// Convert a T to an integer; floating-point values are truncated.
OF_TEMPLATE(class T)
OF_DEVICE int32_t of_to_int32(T x) {
  if (!OF_IS_FLOATING(T)) return (int32_t)x;
#if OF_HAS_DOUBLE
  if (sizeof(T) == 8) return of_int32_of_double((double)x);
#endif
  return of_int32_of_float((float)x);
}
OF_TEMPLATE(class T)
OF_DEVICE int64_t of_to_int64(T x) {
  if (!OF_IS_FLOATING(T)) return (int64_t)x;
#if OF_HAS_DOUBLE
  if (sizeof(T) == 8) return of_int64_of_double((double)x);
#endif
  return of_int64_of_float((float)x);
}
OF_TEMPLATE(class T)
OF_DEVICE uint64_t of_to_uint64(T x) {
  if (!OF_IS_FLOATING(T)) return (uint64_t)x;
#if OF_HAS_DOUBLE
  if (sizeof(T) == 8) return of_uint64_of_double((double)x);
#endif
  return of_uint64_of_float((float)x);
}

// Loads element i of memory that holds elements of a dtype.
OF_TEMPLATE(class T)
OF_DEVICE T of_load(int32_t dtype, OF_GLOBAL const void* data, int64_t i) {
  switch (dtype) {
    case OF_BOOL:
      return (T)(((OF_GLOBAL const uint8_t*)data)[i] != 0);
    case OF_UINT8:
      return (T)((OF_GLOBAL const uint8_t*)data)[i];
    case OF_INT8:
      return (T)((OF_GLOBAL const int8_t*)data)[i];
    case OF_INT16:
      return (T)((OF_GLOBAL const int16_t*)data)[i];
    case OF_INT32:
      return (T)((OF_GLOBAL const int32_t*)data)[i];
    case OF_INT64:
      return (T)((OF_GLOBAL const int64_t*)data)[i];
    case OF_UINT16:
      return (T)((OF_GLOBAL const uint16_t*)data)[i];
    case OF_UINT32:
      return (T)((OF_GLOBAL const uint32_t*)data)[i];
    case OF_UINT64:
      return (T)((OF_GLOBAL const uint64_t*)data)[i];
    case OF_FLOAT16:
      return of_from_float OF_OF(T)(of_float_of_half(((OF_GLOBAL const uint16_t*)data)[i]));
    case OF_BFLOAT16:
      return of_from_float OF_OF(T)(of_float_of_bfloat16(((OF_GLOBAL const uint16_t*)data)[i]));
    case OF_FLOAT32:
      return of_from_float OF_OF(T)(((OF_GLOBAL const float*)data)[i]);
#if OF_HAS_DOUBLE
    case OF_FLOAT64:
      return of_from_double OF_OF(T)(((OF_GLOBAL const double*)data)[i]);
#endif
  }
  return (T)0;
}

// Converts a value to float by rounding to odd: the last bit is set if the result is inexact. Rounding this to a type
// of fewer bits gives what rounding the value itself would give; rounding the nearest float may round twice.
OF_TEMPLATE(class T)
OF_DEVICE float of_round_to_odd(T value) {
  const float nearest = (float)value;
  int is_exact, is_above;  // whether `nearest` is the value; whether it is greater
  if (OF_IS_FLOATING(T)) {
    is_exact = (T)nearest == value || value != value;
    is_above = (T)nearest > value;
  } else if (OF_IS_UNSIGNED(T)) {
    is_above = nearest >= 18446744073709551616.0f || of_uint64_of_float(nearest) > (uint64_t)value;
    is_exact = !is_above && of_uint64_of_float(nearest) == (uint64_t)value;
  } else {
    is_above = nearest >= 9223372036854775808.0f || of_int64_of_float(nearest) > (int64_t)value;
    is_exact = !is_above && of_int64_of_float(nearest) == (int64_t)value;
  }
  if (is_exact) return nearest;
  const uint32_t bits = OF_BITS_OF_FLOAT(nearest);
  return OF_FLOAT_OF_BITS((bits - (is_above == (nearest > 0.0f))) | 1);
}

// Stores a value as element i of memory that holds elements of a dtype.
OF_TEMPLATE(class T)
OF_DEVICE void of_store(int32_t dtype, OF_GLOBAL void* data, int64_t i, T value) {
  switch (dtype) {
    case OF_BOOL:
      ((OF_GLOBAL uint8_t*)data)[i] = (uint8_t)(value != 0);
      break;
    case OF_UINT8:
      ((OF_GLOBAL uint8_t*)data)[i] = (uint8_t)of_to_int32 OF_OF(T)(value);
      break;
    case OF_INT8:
      ((OF_GLOBAL int8_t*)data)[i] = (int8_t)of_to_int32 OF_OF(T)(value);
      break;
    case OF_INT16:
      ((OF_GLOBAL int16_t*)data)[i] = (int16_t)of_to_int32 OF_OF(T)(value);
      break;
    case OF_INT32:
      ((OF_GLOBAL int32_t*)data)[i] = of_to_int32 OF_OF(T)(value);
      break;
    case OF_INT64:
      ((OF_GLOBAL int64_t*)data)[i] = of_to_int64 OF_OF(T)(value);
      break;
    case OF_UINT16:
      ((OF_GLOBAL uint16_t*)data)[i] = (uint16_t)of_to_int32 OF_OF(T)(value);
      break;
    case OF_UINT32:
      ((OF_GLOBAL uint32_t*)data)[i] = (uint32_t)of_to_int64 OF_OF(T)(value);
      break;
    case OF_UINT64:
      ((OF_GLOBAL uint64_t*)data)[i] = of_to_uint64 OF_OF(T)(value);
      break;
    case OF_FLOAT16:
      ((OF_GLOBAL uint16_t*)data)[i] = of_half_of_float(of_round_to_odd OF_OF(T)(value));
      break;
    case OF_BFLOAT16:
      ((OF_GLOBAL uint16_t*)data)[i] = of_bfloat16_of_float(of_round_to_odd OF_OF(T)(value));
      break;
    case OF_FLOAT32:
      ((OF_GLOBAL float*)data)[i] = (float)value;
      break;
#if OF_HAS_DOUBLE
    case OF_FLOAT64:
      ((OF_GLOBAL double*)data)[i] = (double)value;
      break;
#endif
  }
}

// Copies element j of `from` to element i of `to`, for elements of 1, 2, 4, 8 or 16 bytes of any type.
OF_DEVICE void of_move(int32_t bytes, OF_GLOBAL void* to, int64_t i, OF_GLOBAL const void* from, int64_t j) {
  switch (bytes) {
    case 1:
      ((OF_GLOBAL uint8_t*)to)[i] = ((OF_GLOBAL const uint8_t*)from)[j];
      break;
    case 2:
      ((OF_GLOBAL uint16_t*)to)[i] = ((OF_GLOBAL const uint16_t*)from)[j];
      break;
    case 4:
      ((OF_GLOBAL uint32_t*)to)[i] = ((OF_GLOBAL const uint32_t*)from)[j];
      break;
    case 8:
      ((OF_GLOBAL uint64_t*)to)[i] = ((OF_GLOBAL const uint64_t*)from)[j];
      break;
    default:
      ((OF_GLOBAL OF_PACKET*)to)[i] = ((OF_GLOBAL const OF_PACKET*)from)[j];
      break;
  }
}

// Divides by the size of a dimension of a space (see of_space).
OF_DEVICE uint32_t of_divide(uint32_t n, uint32_t multiplier, uint32_t shift) {
  return (OF_HIGH_WORD(n, multiplier) + n) >> shift;
}
// Returns the coordinate along dimension `d` of a linear position. `rest` is the position divided by the sizes of the
// dimensions before `d`; it is divided by the size of `d`, too.
OF_DEVICE int64_t of_coordinate(const of_space* space, int d, uint32_t* rest) {
  const uint32_t whole = of_divide(*rest, space->multipliers[d], space->shifts[d]);
  const uint32_t at = *rest - whole * space->sizes[d];
  *rest = whole;
  return at;
}
// Returns the offset, in elements, of an operand's element at a linear position.
OF_DEVICE int64_t of_offset(const of_space* space, const of_strides* strides, uint32_t position) {
  int64_t offset = 0;
  for (int d = 0; d < space->rank; ++d) offset += of_coordinate(space, d, &position) * strides->dims[d];
  return offset;
}

// Record an error unless one is recorded already.
OF_DEVICE void of_report_division(OF_GLOBAL of_report* report, uint64_t op) {
  if (!OF_CLAIM(&report->claimed)) return;
  report->code = OF_REPORT_DIVISION_BY_ZERO;
  report->op = op;
}
OF_DEVICE void of_report_index(OF_GLOBAL of_report* report, uint64_t op, int64_t index, int32_t dim, int64_t size) {
  if (!OF_CLAIM(&report->claimed)) return;
  report->code = OF_REPORT_OUT_OF_RANGE;
  report->op = op;
  report->index = index;
  report->dim = dim;
  report->size = size;
}

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_ELEMENT_H_
