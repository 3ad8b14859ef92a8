// Reads nested arrays of numbers into packed memory.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// A number, or arrays of one length per level. Members are true, false, Integers, other real Numerics, and tensors
// without dimensions. Used in two steps, because the dtype depends on all members.
class NestedArray {
 public:
  // Finds the shape and what kinds of numbers there are. Raises ShapeError for arrays of different lengths or nested
  // too deep, TypeMismatch for members of other types.
  void measure(VALUE data);

  // int64, the default dtype (also when there is no member), or bool.
  of_dtype natural_dtype() const;

  // Writes the same data. Raises InvalidArgument for numbers that do not fit the dtype. Not for the half-precision
  // types.
  void read(VALUE data, of_dtype dtype, void* memory);

  int rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  uint64_t count() const { return count_; }

 private:
  void find_shape(VALUE data);
  void check_members(VALUE data, int depth);
  void read_members(VALUE data, int depth, of_dtype dtype, char** to);

  int rank_ = 0;
  int64_t sizes_[OF_MAX_RANK];
  uint64_t count_ = 1;
  bool has_float_ = false, has_integer_ = false;
};

}  // namespace oneflow::ruby
