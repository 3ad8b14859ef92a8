// Reads nested arrays of numbers into packed memory.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// A number, or arrays of one length per level. Members are true, false, Integers, other real Numerics, and tensors
// without dimensions. Used in two steps, because the dtype depends on all members.
class NestedArray {
 public:
  // `name` is what error texts call the data: "tensor: data".
  explicit NestedArray(const char* name) : name_(name) {}

  // Finds the shape and the dtype. Raises ShapeError for arrays of different lengths or nested
  // too deep, TypeMismatch for members of other types.
  void measure(VALUE data);

  // What the dtypes of all members give together: that of a tensor, int64 for Integers, bool for true and false, else
  // the default dtype, also when there is no member. Raises DTypeError where they give none.
  of_dtype natural_dtype() const;

  // Writes the same data. Raises InvalidArgument for numbers that do not fit the dtype. Not for the half-precision
  // types.
  void read(VALUE data, of_dtype dtype, void* memory);

  int rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  uint64_t count() const { return count_; }

 private:
  [[noreturn]] void raise_ragged(int dim, int64_t expected, VALUE found) const;
  of_scalar scalar_of(VALUE value) const;
  void write(const of_scalar& scalar, VALUE source, of_dtype dtype, char* to) const;
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
