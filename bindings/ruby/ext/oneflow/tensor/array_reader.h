// Converts nested Ruby Arrays of numbers to contiguous memory.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// A reader of a number or of nested Arrays, all of the same length at each level. The elements are true, false,
// Integers, other real Numerics, Complex numbers, and tensors with 0 dimensions. Reading takes two passes, measure()
// and read(), because the dtype depends on all elements.
class NestedArray {
 public:
  // `name` is the prefix of error texts, such as "tensor: data".
  explicit NestedArray(const char* name) : name_(name) {}

  // Determines the shape and the dtype. Raises ShapeError for Arrays of different lengths or nested too deeply,
  // TypeMismatch for elements of other types.
  void measure(VALUE data);

  // Returns the promotion of the dtypes of all elements: the dtype of a tensor, int64 for an Integer, bool for true and
  // false, the complex dtype that corresponds to the default dtype for a Complex number, the default dtype for other
  // numbers. Returns the default dtype if there are no elements. Raises DTypeError if the dtypes have no promotion.
  of_dtype inferred_dtype() const;

  // Writes the measured data to `memory`, in row-major order, as elements of stored_dtype(dtype). Raises
  // InvalidArgument for numbers that do not fit `dtype`, DTypeError for Complex numbers if `dtype` is real.
  void read(VALUE data, of_dtype dtype, void* memory);

  // Returns the dtype in which read() writes elements of `dtype`: float64 for float16 and bfloat16, which the
  // runtime rounds, else `dtype`.
  static of_dtype stored_dtype(of_dtype dtype);

  int rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  uint64_t count() const { return count_; }

 private:
  // The value of an element.
  struct Number {
    of_scalar real;
    double imaginary;
    bool is_complex;
  };

  [[noreturn]] void raise_ragged(int dim, int64_t expected, VALUE found) const;
  [[noreturn]] void raise_not_real(const Number& number, VALUE source, of_dtype dtype) const;
  Number number_of_tensor(VALUE value) const;
  Number number_of_element(VALUE value) const;
  static of_dtype element_dtype(VALUE value, const Number& number);
  void write(const Number& number, VALUE source, of_dtype dtype, char* to) const;
  void find_shape(VALUE data);
  void check_elements(VALUE data, int depth);
  void read_elements(VALUE data, int depth, of_dtype dtype, char** to);

  const char* name_;
  int rank_ = 0;
  int64_t sizes_[OF_MAX_RANK];
  uint64_t count_ = 1;
  bool has_elements_ = false;
  of_dtype dtype_ = OF_DTYPE_NONE;
};

}  // namespace oneflow::ruby
