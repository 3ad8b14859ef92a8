#include "array_reader.h"

#include <cmath>
#include <cstring>

#include "convert.h"
#include "errors.h"
#include "memory.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

bool is_array(VALUE value) { return RB_TYPE_P(value, T_ARRAY); }

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

// Writes an integer, a float's whole part, or a truth value; false where it does not fit. The low bytes of the 64-bit
// number are the narrow one.
bool write_integer(const of_scalar& scalar, of_dtype dtype, char* to) {
  const int bits = 8 * static_cast<int>(of_dtype_size(dtype));
  const bool is_unsigned = dtype == OF_UINT8 || dtype == OF_UINT16 || dtype == OF_UINT32 || dtype == OF_UINT64;
  const double lowest = is_unsigned ? 0 : -std::ldexp(1.0, bits - 1);
  const double beyond = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  uint64_t word;
  if (scalar.kind == OF_SCALAR_FLOAT) {
    const double whole = std::trunc(scalar.as.real);
    if (!(whole >= lowest && whole < beyond)) return false;
    word = whole < 0 ? static_cast<uint64_t>(static_cast<int64_t>(whole)) : static_cast<uint64_t>(whole);
  } else {
    // Exact: only a number of 64 bits can round to `beyond`, and only the two tests of its sign bit tell it apart.
    word = scalar.as.natural;
    const bool negative = scalar.kind != OF_SCALAR_UINT && scalar.as.integer < 0;
    const bool fits = bits == 64 ? (is_unsigned ? !negative : scalar.kind != OF_SCALAR_UINT)
                                 : real_of(scalar) >= lowest && real_of(scalar) < beyond;
    if (!fits) return false;
  }
  memcpy(to, &word, of_dtype_size(dtype));
  return true;
}

// The dtype that a member asks for.
of_dtype member_dtype(VALUE value, of_scalar_kind kind) {
  if (is_tensor(value)) return of_tensor_dtype(handle_of(value));
  return kind == OF_SCALAR_BOOL ? OF_BOOL : kind == OF_SCALAR_FLOAT ? of_default_dtype() : OF_INT64;
}

}  // namespace

void NestedArray::raise_ragged(int dim, int64_t expected, VALUE found) const {
  if (!is_array(found)) raise(OF_SHAPE_ERROR, "%s must not have both rows and numbers in dimension %d", name_, dim);
  raise(OF_SHAPE_ERROR, "%s must have rows of one length in dimension %d, got %lld and %ld", name_, dim,
        static_cast<long long>(expected), RARRAY_LEN(found));
}

// One member. An Integer above the range of int64 is a UINT when it fits there.
of_scalar NestedArray::scalar_of(VALUE value) const {
  of_scalar scalar = {};
  if (is_tensor(value)) {
    of_tensor tensor = handle_of(value);
    if (of_tensor_rank(tensor) != 0) {
      raise(OF_SHAPE_ERROR, "%s must have tensors with 0 dimensions only, got one with %d", name_,
            of_tensor_rank(tensor));
    }
    check(run_native(of_tensor_work(tensor) > 1, [&] { return of_tensor_item(tensor, &scalar); }));
    return scalar;
  }
  of_value number;
  bool in_range;
  if (!number_of(value, &number, &in_range)) {
    raise(OF_TYPE_MISMATCH, "%s must be Numeric, bool or Array of them, got %" PRIsVALUE, name_,
          type_description(value));
  }
  if (!in_range) {
    scalar.kind = OF_SCALAR_UINT;
    if (rb_integer_pack(value, &scalar.as.natural, 1, sizeof(uint64_t), 0, INTEGER_PACK_NATIVE_BYTE_ORDER) != 1) {
      raise(OF_INVALID_ARGUMENT, "%s must fit into 64 bits, got a larger integer", name_);
    }
    return scalar;
  }
  if (number.kind == OF_VALUE_FLOAT) {
    scalar.kind = OF_SCALAR_FLOAT;
    scalar.as.real = number.as.real;
  } else {
    scalar.kind = number.kind == OF_VALUE_BOOL ? OF_SCALAR_BOOL : OF_SCALAR_INT;
    scalar.as.integer = number.kind == OF_VALUE_BOOL ? number.as.boolean : number.as.integer;
  }
  return scalar;
}

void NestedArray::write(const of_scalar& scalar, VALUE source, of_dtype dtype, char* to) const {
  if (dtype == OF_BOOL) {
    *to = real_of(scalar) != 0;
  } else if (dtype == OF_FLOAT64) {
    const double value = real_of(scalar);
    memcpy(to, &value, sizeof(value));
  } else if (dtype == OF_FLOAT32) {
    const float value = static_cast<float>(real_of(scalar));
    memcpy(to, &value, sizeof(value));
  } else if (!write_integer(scalar, dtype, to)) {
    raise(OF_INVALID_ARGUMENT, "%s must fit into %s, got %" PRIsVALUE, name_, of_dtype_name(dtype), source);
  }
}

// Follows the first members, so that the size is known before all of them are visited.
void NestedArray::find_shape(VALUE data) {
  for (rank_ = 0; is_array(data); data = RARRAY_AREF(data, 0)) {
    if (rank_ == OF_MAX_RANK) raise(OF_SHAPE_ERROR, "%s must nest at most %d deep", name_, OF_MAX_RANK);
    sizes_[rank_++] = RARRAY_LEN(data);
    if (__builtin_mul_overflow(count_, static_cast<uint64_t>(RARRAY_LEN(data)), &count_) || count_ > INT64_MAX / 8) {
      raise(OF_SHAPE_ERROR, "%s is too large", name_);
    }
    if (RARRAY_LEN(data) == 0) break;
  }
}

void NestedArray::check_members(VALUE data, int depth) {
  if (depth < rank_) {
    if (!is_array(data) || RARRAY_LEN(data) != sizes_[depth]) raise_ragged(depth, sizes_[depth], data);
    for (int64_t i = 0; i < RARRAY_LEN(data); ++i) check_members(RARRAY_AREF(data, i), depth + 1);
    rb_thread_check_ints();  // shared rows may add up to more than anybody waits for
    return;
  }
  if (is_array(data)) raise_ragged(depth, 0, Qnil);
  const of_dtype dtype = member_dtype(data, scalar_of(data).kind);
  if (dtype != dtype_) dtype_ = has_members_ ? of_promote_types(dtype_, dtype) : dtype;
  has_members_ = true;
}

void NestedArray::measure(VALUE data) {
  find_shape(data);
  check_members(data, 0);
}

of_dtype NestedArray::natural_dtype() const {
  if (!has_members_) return of_default_dtype();
  if (dtype_ == OF_DTYPE_COUNT) raise(OF_DTYPE_ERROR, "%s has members without a common dtype", name_);
  return dtype_;
}

// The conversion of a Numeric may run Ruby code, and so may an interrupt; either may change the arrays: the lengths are
// looked at once more.
void NestedArray::read_members(VALUE data, int depth, of_dtype dtype, char** to) {
  if (depth < rank_) {
    for (int64_t i = 0; i < sizes_[depth]; ++i) {
      if (!is_array(data) || RARRAY_LEN(data) != sizes_[depth]) raise_ragged(depth, sizes_[depth], data);
      read_members(RARRAY_AREF(data, i), depth + 1, dtype, to);
    }
    rb_thread_check_ints();
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
