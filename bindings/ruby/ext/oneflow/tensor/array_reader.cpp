#include "tensor/array_reader.h"

#include <cmath>
#include <cstring>

#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

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

// Writes an integer, a float truncated towards zero, or a bool as an integer dtype. Returns false if the value does not
// fit. The machine is little-endian: the low bytes of the 64-bit word are the narrower integer.
bool write_integer(const of_scalar& scalar, of_dtype dtype, char* to) {
  const int bits = 8 * static_cast<int>(of_dtype_size(dtype));
  const bool is_unsigned = dtype == OF_UINT8 || dtype == OF_UINT16 || dtype == OF_UINT32 || dtype == OF_UINT64;
  const double lowest = is_unsigned ? 0 : -std::ldexp(1.0, bits - 1);
  const double limit = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  uint64_t word;
  if (scalar.kind == OF_SCALAR_FLOAT) {
    const double whole = std::trunc(scalar.as.real);
    if (!(whole >= lowest && whole < limit)) return false;
    word = whole < 0 ? static_cast<uint64_t>(static_cast<int64_t>(whole)) : static_cast<uint64_t>(whole);
  } else {
    // Comparisons as doubles are exact for up to 32 bits. An integer could round to a 64-bit limit, so for 64 bits its
    // sign and its kind decide.
    word = scalar.as.natural;
    const bool negative = scalar.kind != OF_SCALAR_UINT && scalar.as.integer < 0;
    const bool fits = bits == 64 ? (is_unsigned ? !negative : scalar.kind != OF_SCALAR_UINT)
                                 : real_of(scalar) >= lowest && real_of(scalar) < limit;
    if (!fits) return false;
  }
  memcpy(to, &word, of_dtype_size(dtype));
  return true;
}

template <typename T>
void store(char* to, double value) {
  const T narrow = static_cast<T>(value);
  memcpy(to, &narrow, sizeof(T));
}

}  // namespace

void NestedArray::raise_ragged(int dim, int64_t expected, VALUE found) const {
  if (!is_array(found)) raise(OF_SHAPE_ERROR, "%s must not have both rows and numbers in dimension %d", name_, dim);
  raise(OF_SHAPE_ERROR, "%s must have rows of equal length in dimension %d, got %lld and %ld", name_, dim,
        static_cast<long long>(expected), RARRAY_LEN(found));
}

void NestedArray::raise_not_real(const Number& number, VALUE source, of_dtype dtype) const {
  const VALUE found = is_tensor(source) ? rb_dbl_complex_new(real_of(number.real), number.imaginary) : source;
  raise(OF_DTYPE_ERROR, "%s must be real numbers for %s, got %" PRIsVALUE, name_, of_dtype_name(dtype),
        rb_inspect(found));
}

NestedArray::Number NestedArray::number_of_tensor(VALUE value) const {
  const of_tensor tensor = peek(value);
  if (!tensor)
    raise(OF_INVALID_ARGUMENT, "%s must not have a tensor that was allocated but never given a value", name_);
  if (of_tensor_rank(tensor) != 0) {
    raise(OF_SHAPE_ERROR, "%s must have tensors with 0 dimensions only, got one with %d", name_,
          of_tensor_rank(tensor));
  }
  Number number = {{}, 0, is_complex(of_tensor_dtype(tensor))};
  if (number.is_complex) number.real.kind = OF_SCALAR_FLOAT;
  check(run_native(of_tensor_work(tensor) > 1, [&] {
    return number.is_complex ? of_tensor_complex_item(tensor, &number.real.as.real, &number.imaginary)
                             : of_tensor_item(tensor, &number.real);
  }));
  return number;
}

// Returns the number that an element stands for. An Integer above the range of int64 becomes a UINT if it fits uint64.
NestedArray::Number NestedArray::number_of_element(VALUE value) const {
  if (is_tensor(value)) return number_of_tensor(value);
  Number number = {};
  of_scalar& scalar = number.real;
  if (RB_TYPE_P(value, T_COMPLEX)) {
    number.is_complex = true;
    scalar.kind = OF_SCALAR_FLOAT;
    scalar.as.real = NUM2DBL(rb_complex_real(value));
    number.imaginary = NUM2DBL(rb_complex_imag(value));
    return number;
  }
  of_value converted;
  bool in_range;
  if (!number_of(value, &converted, &in_range)) {
    raise(OF_TYPE_MISMATCH, "%s must be Numeric, bool or Array of them, got %" PRIsVALUE, name_,
          type_description(value));
  }
  if (!in_range) raise(OF_INVALID_ARGUMENT, "%s must fit into 64 bits, got a larger integer", name_);
  if (converted.kind == OF_VALUE_UINT) {
    scalar.kind = OF_SCALAR_UINT;
    scalar.as.natural = converted.as.natural;
  } else if (converted.kind == OF_VALUE_FLOAT) {
    scalar.kind = OF_SCALAR_FLOAT;
    scalar.as.real = converted.as.real;
  } else {
    scalar.kind = converted.kind == OF_VALUE_BOOL ? OF_SCALAR_BOOL : OF_SCALAR_INT;
    scalar.as.integer = converted.kind == OF_VALUE_BOOL ? converted.as.boolean : converted.as.integer;
  }
  return number;
}

// Returns the dtype that an element contributes to the promotion.
of_dtype NestedArray::element_dtype(VALUE value, const Number& number) {
  if (is_tensor(value)) return of_tensor_dtype(handle_of(value));
  if (number.is_complex) return of_promote_types(of_default_dtype(), OF_COMPLEX64);
  const of_scalar_kind kind = number.real.kind;
  return kind == OF_SCALAR_BOOL ? OF_BOOL : kind == OF_SCALAR_FLOAT ? of_default_dtype() : OF_INT64;
}

of_dtype NestedArray::stored_dtype(of_dtype dtype) {
  return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16 ? OF_FLOAT64 : dtype;
}

void NestedArray::write(const Number& number, VALUE source, of_dtype dtype, char* to) const {
  if (number.is_complex && !is_complex(dtype)) raise_not_real(number, source, dtype);
  const double real = real_of(number.real);
  switch (stored_dtype(dtype)) {
    case OF_BOOL:
      *to = real != 0;
      return;
    case OF_FLOAT32:
      return store<float>(to, real);
    case OF_FLOAT64:
      return store<double>(to, real);
    case OF_COMPLEX64:
      store<float>(to, real);
      return store<float>(to + sizeof(float), number.imaginary);
    case OF_COMPLEX128:
      store<double>(to, real);
      return store<double>(to + sizeof(double), number.imaginary);
    default:
      if (write_integer(number.real, dtype, to)) return;
      raise(OF_INVALID_ARGUMENT, "%s must fit into %s, got %" PRIsVALUE, name_, of_dtype_name(dtype), source);
  }
}

// Determines the shape from the first element of each level, so that data that is too large is refused before all
// elements are visited.
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

void NestedArray::check_elements(VALUE data, int depth) {
  if (depth < rank_) {
    if (!is_array(data) || RARRAY_LEN(data) != sizes_[depth]) raise_ragged(depth, sizes_[depth], data);
    for (int64_t i = 0; i < RARRAY_LEN(data); ++i) check_elements(RARRAY_AREF(data, i), depth + 1);
    rb_thread_check_ints();  // rows may be shared: the visit can take very long, and must be interruptible
    return;
  }
  if (is_array(data)) raise_ragged(depth, 0, Qnil);
  const of_dtype dtype = element_dtype(data, number_of_element(data));
  if (dtype != dtype_) dtype_ = has_elements_ ? of_promote_types(dtype_, dtype) : dtype;
  has_elements_ = true;
}

void NestedArray::measure(VALUE data) {
  find_shape(data);
  check_elements(data, 0);
}

of_dtype NestedArray::inferred_dtype() const {
  if (!has_elements_) return of_default_dtype();
  if (dtype_ == OF_DTYPE_NONE) raise(OF_DTYPE_ERROR, "%s has elements without a common dtype", name_);
  return dtype_;
}

// Writes the elements from level `depth` on, and advances `to`. Converting a Numeric and handling an interrupt may run
// Ruby code that changes the arrays: their lengths are checked again.
void NestedArray::read_elements(VALUE data, int depth, of_dtype dtype, char** to) {
  if (depth < rank_) {
    for (int64_t i = 0; i < sizes_[depth]; ++i) {
      if (!is_array(data) || RARRAY_LEN(data) != sizes_[depth]) raise_ragged(depth, sizes_[depth], data);
      read_elements(RARRAY_AREF(data, i), depth + 1, dtype, to);
    }
    rb_thread_check_ints();
    return;
  }
  write(number_of_element(data), data, dtype, *to);
  *to += of_dtype_size(stored_dtype(dtype));
}

void NestedArray::read(VALUE data, of_dtype dtype, void* memory) {
  char* to = static_cast<char*>(memory);
  read_elements(data, 0, dtype, &to);
}

}  // namespace oneflow::ruby
