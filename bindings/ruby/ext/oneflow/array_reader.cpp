#include "array_reader.h"

#include <cmath>
#include <cstring>

#include "convert.h"
#include "errors.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

bool is_array(VALUE value) { return RB_TYPE_P(value, T_ARRAY); }

[[noreturn]] void raise_ragged(int dim, int64_t expected, VALUE found) {
  if (!is_array(found)) raise(OF_SHAPE_ERROR, "tensor: dimension %d has rows and single numbers", dim);
  raise(OF_SHAPE_ERROR, "tensor: rows of dimension %d must have one length, got %lld and %ld", dim,
        static_cast<long long>(expected), RARRAY_LEN(found));
}

[[noreturn]] void raise_range(VALUE found, of_dtype dtype) {
  raise(OF_INVALID_ARGUMENT, "tensor: %" PRIsVALUE " does not fit into %s", found, of_dtype_name(dtype));
}

// One member. An Integer above the range of int64 is a UINT when it fits there.
of_scalar scalar_of(VALUE value) {
  of_scalar scalar = {};
  if (is_tensor(value)) {
    of_tensor tensor = handle_of(value);
    if (of_tensor_rank(tensor) != 0) {
      raise(OF_SHAPE_ERROR, "tensor: members must be numbers or tensors with 0 dimensions, got a tensor with %d",
            of_tensor_rank(tensor));
    }
    check(of_tensor_item(tensor, &scalar));
    return scalar;
  }
  of_value number;
  bool in_range;
  if (!number_of(value, &number, &in_range)) {
    raise(OF_TYPE_MISMATCH, "tensor: data must be Numeric, bool or Array of them, got %" PRIsVALUE,
          type_description(value));
  }
  if (!in_range) {
    scalar.kind = OF_SCALAR_UINT;
    if (rb_integer_pack(value, &scalar.as.natural, 1, sizeof(uint64_t), 0, INTEGER_PACK_NATIVE_BYTE_ORDER) != 1) {
      raise(OF_INVALID_ARGUMENT, "tensor: members must fit into 64 bits, got %" PRIsVALUE, value);
    }
    return scalar;
  }
  scalar.kind = number.kind == OF_VALUE_BOOL  ? OF_SCALAR_BOOL
                : number.kind == OF_VALUE_INT ? OF_SCALAR_INT
                                              : OF_SCALAR_FLOAT;
  if (scalar.kind == OF_SCALAR_BOOL) scalar.as.integer = number.as.boolean;
  if (scalar.kind == OF_SCALAR_INT) scalar.as.integer = number.as.integer;
  if (scalar.kind == OF_SCALAR_FLOAT) scalar.as.real = number.as.real;
  return scalar;
}

double real_of(const of_scalar& scalar) {
  switch (scalar.kind) {
    case OF_SCALAR_FLOAT:
      return scalar.as.real;
    case OF_SCALAR_UINT:
      return static_cast<double>(scalar.as.natural);
    default:
      return static_cast<double>(scalar.as.integer);
  }
}

// Writes an integer, a float's whole part, or a truth value. The low bytes of the 64-bit number are the narrow one.
void write_integer(const of_scalar& scalar, VALUE source, of_dtype dtype, char* to) {
  const int bits = 8 * static_cast<int>(of_dtype_size(dtype));
  const bool is_unsigned = dtype == OF_UINT8 || dtype == OF_UINT16 || dtype == OF_UINT32 || dtype == OF_UINT64;
  const double lowest = is_unsigned ? 0 : -std::ldexp(1.0, bits - 1);
  const double beyond = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  uint64_t word;
  if (scalar.kind == OF_SCALAR_FLOAT) {
    const double whole = std::trunc(scalar.as.real);
    if (!(whole >= lowest && whole < beyond)) raise_range(source, dtype);
    word = whole < 0 ? static_cast<uint64_t>(static_cast<int64_t>(whole)) : static_cast<uint64_t>(whole);
  } else {
    // Exact: only a number of 64 bits can round to `beyond`, and only the two tests of its sign bit tell it apart.
    word = scalar.as.natural;
    const bool negative = scalar.kind != OF_SCALAR_UINT && scalar.as.integer < 0;
    const bool fits = bits == 64 ? (is_unsigned ? !negative : scalar.kind != OF_SCALAR_UINT)
                                 : real_of(scalar) >= lowest && real_of(scalar) < beyond;
    if (!fits) raise_range(source, dtype);
  }
  memcpy(to, &word, of_dtype_size(dtype));
}

void write(const of_scalar& scalar, VALUE source, of_dtype dtype, char* to) {
  if (dtype == OF_BOOL) {
    *to = real_of(scalar) != 0;
  } else if (dtype == OF_FLOAT64) {
    const double value = real_of(scalar);
    memcpy(to, &value, sizeof(value));
  } else if (dtype == OF_FLOAT32) {
    const float value = static_cast<float>(real_of(scalar));
    memcpy(to, &value, sizeof(value));
  } else {
    write_integer(scalar, source, dtype, to);
  }
}

}  // namespace

// Follows the first members, so that the size is known before all of them are visited.
void NestedArray::find_shape(VALUE data) {
  for (rank_ = 0; is_array(data); data = RARRAY_AREF(data, 0)) {
    if (rank_ == OF_MAX_RANK) raise(OF_SHAPE_ERROR, "tensor: arrays must nest at most %d deep", OF_MAX_RANK);
    sizes_[rank_++] = RARRAY_LEN(data);
    if (__builtin_mul_overflow(count_, static_cast<uint64_t>(RARRAY_LEN(data)), &count_) || count_ > INT64_MAX / 8) {
      raise(OF_SHAPE_ERROR, "tensor: data is too large");
    }
    if (RARRAY_LEN(data) == 0) break;
  }
}

void NestedArray::check_members(VALUE data, int depth) {
  if (depth < rank_) {
    if (!is_array(data) || RARRAY_LEN(data) != sizes_[depth]) raise_ragged(depth, sizes_[depth], data);
    for (int64_t i = 0; i < RARRAY_LEN(data); ++i) check_members(RARRAY_AREF(data, i), depth + 1);
    return;
  }
  if (is_array(data)) raise_ragged(depth, 0, Qnil);
  const of_scalar_kind kind = scalar_of(data).kind;
  has_float_ |= kind == OF_SCALAR_FLOAT;
  has_integer_ |= kind == OF_SCALAR_INT || kind == OF_SCALAR_UINT;
}

void NestedArray::measure(VALUE data) {
  find_shape(data);
  check_members(data, 0);
}

of_dtype NestedArray::natural_dtype() const {
  if (has_float_ || count_ == 0) return of_default_dtype();
  return has_integer_ ? OF_INT64 : OF_BOOL;
}

// The conversion of a Numeric may run Ruby code, which may change the arrays: the lengths are looked at once more.
void NestedArray::read_members(VALUE data, int depth, of_dtype dtype, char** to) {
  if (depth < rank_) {
    for (int64_t i = 0; i < sizes_[depth]; ++i) {
      if (!is_array(data) || RARRAY_LEN(data) != sizes_[depth]) raise_ragged(depth, sizes_[depth], data);
      read_members(RARRAY_AREF(data, i), depth + 1, dtype, to);
    }
    return;
  }
  write(scalar_of(data), data, dtype, *to);
  *to += of_dtype_size(dtype);
}

void NestedArray::read(VALUE data, of_dtype dtype, void* memory) {
  char* to = static_cast<char*>(memory);
  read_members(data, 0, dtype, &to);
}

}  // namespace oneflow::ruby
