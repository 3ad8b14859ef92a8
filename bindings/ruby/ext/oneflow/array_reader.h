// Reads nested arrays of numbers into packed memory.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// A number, or arrays of one length per level. Members are true, false, Integers, other real Numerics, Complex numbers,
// and tensors without dimensions. Used in two steps, because the dtype depends on all members.
class NestedArray {
 public:
  // `name` is what error texts call the data: "tensor: data".
  explicit NestedArray(const char* name) : name_(name) {}

  // Finds the shape and the dtype. Raises ShapeError for arrays of different lengths or nested
  // too deep, TypeMismatch for members of other types.
  void measure(VALUE data);

  // What the dtypes of all members give together: that of a tensor, int64 for Integers, bool for true and false, the
  // complex one whose parts go with the default dtype for Complex numbers, else the default dtype, also when there is
  // no member. Raises DTypeError where they give none.
  of_dtype natural_dtype() const;

  // Writes the same data, as stored_dtype() says. Raises InvalidArgument for numbers that do not fit the dtype,
  // DTypeError for Complex ones where it is a real one.
  void read(VALUE data, of_dtype dtype, void* memory);

  // How elements of a dtype are written: those of half precision as float32.
  static of_dtype stored_dtype(of_dtype dtype);

  int rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  uint64_t count() const { return count_; }

 private:
  struct Number {
    of_scalar real;
    double imaginary;
    bool is_complex;
  };

  [[noreturn]] void raise_ragged(int dim, int64_t expected, VALUE found) const;
  [[noreturn]] void raise_not_real(const Number& number, VALUE source, of_dtype dtype) const;
  Number number_of_tensor(VALUE value) const;
  Number number_of_member(VALUE value) const;
  static of_dtype member_dtype(VALUE value, const Number& number);
  void write(const Number& number, VALUE source, of_dtype dtype, char* to) const;
  void find_shape(VALUE data);
  void check_members(VALUE data, int depth);
  void read_members(VALUE data, int depth, of_dtype dtype, char** to);

  const char* name_;
  int rank_ = 0;
  int64_t sizes_[OF_MAX_RANK];
  uint64_t count_ = 1;
  bool has_members_ = false;
  of_dtype dtype_ = OF_DTYPE_COUNT;
};

}  // namespace oneflow::ruby
