// The functions that programs in records may call besides operators (PROGRAM in codegen/intrinsics.py).
#ifndef ONEFLOW_OPS_PROGRAM_FUNCTIONS_H_
#define ONEFLOW_OPS_PROGRAM_FUNCTIONS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/characters.h"
#include "base/dtype.h"
#include "base/integer.h"
#include "base/scalar.h"
#include "base/shape.h"
#include "dispatch/program_body.h"
#include "tensor/tensor.h"
#include "tensor/transfer.h"

namespace oneflow {

// A list of integers that a program makes. Short lists need no memory on the heap; long ones may be longer than the
// lists of sizes and strides.
class Integers {
 public:
  Integers() = default;
  Integers(Sizes items) {
    if (items.size() > kInline) long_.reserve(items.size());
    for (const int64_t each : items) push_back(each);
  }
  Integers(const Shape& items) : Integers(Sizes(items)) {}
  template <size_t count>
  Integers(const std::array<int64_t, count>& items) : Integers(Sizes(items)) {}
  operator Sizes() const { return {begin(), size_}; }
  void push_back(Integer item) {
    if (size_ < kInline) {
      short_[size_++] = item;
      return;
    }
    if (long_.empty()) long_.assign(short_, short_ + size_);
    long_.push_back(item);
    ++size_;
  }
  const int64_t* begin() const { return size_ <= kInline ? short_ : long_.data(); }
  const int64_t* end() const { return begin() + size_; }
  size_t size() const { return size_; }
  // Returns a list or a range, of which each item may add one to this list.
  template <class List>
  List reserve_for(List&& source) {
    if (source.size() > kInline) long_.reserve(source.size());
    return std::forward<List>(source);
  }

 private:
  static constexpr size_t kInline = 8;
  size_t size_ = 0;
  int64_t short_[kInline];
  std::vector<int64_t> long_;  // all items, if they are more
};
inline of_value to_value(const Integers& list) { return to_value(Sizes(list)); }

// Return a value as error texts show it.
inline std::string text_of(Integer value) { return std::to_string(static_cast<int64_t>(value)); }
inline std::string text_of(Sizes list) { return to_text(list); }
template <std::same_as<double> Real>
std::string text_of(Real value) {
  return to_text(float_scalar(value));
}
inline std::string text_of(const std::string& text) { return text; }
template <std::same_as<std::string_view> Text>  // a string of the caller
std::string text_of(Text text) {
  return printable(text);
}
inline std::string text_of(of_dtype dtype) { return dtype_name(dtype); }

// Throws an error with a text in which each {} is replaced by the next value.
[[noreturn]] void fail_with_texts(of_status status, std::string_view text, std::initializer_list<std::string> values);
template <class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(of_status status, std::string_view text,
                                                      const Values&... values) {
  fail_with_texts(status, text, {text_of(values)...});
}

inline const Shape& sizes(const Tensor& tensor) { return tensor.sizes(); }
inline const Shape& strides(const Tensor& tensor) { return tensor.strides(); }
inline Integer offset(const Tensor& tensor) { return tensor.offset(); }
inline Integer rank(const Tensor& tensor) { return tensor.rank(); }
inline Integer numel(const Tensor& tensor) { return tensor.count(); }
inline of_dtype dtype(const Tensor& tensor) { return tensor.dtype(); }
inline of_device device(const Tensor& tensor) { return tensor.device(); }
inline bool is_floating(const Tensor& tensor) { return is_floating(tensor.dtype()); }
inline bool is_complex(const Tensor& tensor) { return is_complex(tensor.dtype()); }

// Returns an item of a list. Throws IndexOutOfRange if there is none.
inline Integer item(Sizes list, Integer position) {
  if (position < 0 || position >= static_cast<int64_t>(list.size()))
    fail(OF_INDEX_OUT_OF_RANGE, "position %lld is out of range for a list of %zu items",
         static_cast<long long>(position), list.size());
  return list[static_cast<size_t>(position)];
}

// Returns an item of a list of tensors. Throws IndexOutOfRange if there is none.
template <class Tensors>
const Tensor& tensor_item(const Tensors& list, Integer position) {
  if (position < 0 || position >= static_cast<int64_t>(list.size()))
    fail(OF_INDEX_OUT_OF_RANGE, "position %lld is out of range for a list of %zu tensors",
         static_cast<long long>(position), list.size());
  return list[static_cast<size_t>(position)];
}
inline const Tensor& item(const TensorSpan& list, Integer position) { return tensor_item(list, position); }
inline const Tensor& item(const TensorList& list, Integer position) { return tensor_item(list, position); }

// Returns the size of a dimension. Throws ShapeError for a 0-d tensor, for which dispatch accepts the dims -1 and 0.
inline Integer size(const Tensor& tensor, Integer dim) {
  if (tensor.rank() == 0) fail(OF_SHAPE_ERROR, "input must have at least 1 dimension, got 0");
  return item(tensor.sizes(), dim);
}

// Returns whether index tensors, of which some may be null, may select an element more than once: masks do not.
bool can_repeat(const of_value& indices);

// Returns the sizes of a tensor, with 1 for the dimensions that a reduction over `dims` folds. `dims` is an integer, a
// list, or null; no dimensions stand for all of them.
Integers kept_sizes(const Tensor& tensor, const of_value& dims);
inline Integers kept_sizes(const Tensor& tensor, Integer dim) { return kept_sizes(tensor, to_value(dim)); }
inline Integers kept_sizes(const Tensor& tensor, Sizes dims) { return kept_sizes(tensor, to_value(dims)); }
inline Integers kept_sizes(const Tensor& tensor) { return kept_sizes(tensor, kNone); }

// Returns, for each dimension, its position in a permutation of the dimensions.
Integers inverse(Sizes permutation);

inline double infinity() { return std::numeric_limits<double>::infinity(); }
inline double real(const of_scalar& number) { return to_double(number); }
inline double real(double number) { return number; }
inline double real(Integer number) { return static_cast<double>(static_cast<int64_t>(number)); }
inline double real(const of_value& number) { return to_double(scalar_of(number)); }

inline double pow(double base, Integer exponent) { return std::pow(base, real(exponent)); }
inline double pow(double base, double exponent) { return std::pow(base, exponent); }
inline double sqrt(Integer number) { return std::sqrt(real(number)); }
inline double sqrt(double number) { return std::sqrt(number); }

// Returns the largest integer that is at most a number. Throws InvalidArgument if an int64 cannot hold it.
Integer floor(double number);

inline Integer min(Integer a, Integer b) { return std::min<int64_t>(a, b); }
inline Integer max(Integer a, Integer b) { return std::max<int64_t>(a, b); }
inline Integer clamp(Integer value, Integer lowest, Integer highest) { return max(lowest, min(value, highest)); }
inline Integer ceil_div(Integer a, Integer b) { return -floordiv(-a, b); }
template <class List>
Integer len(const List& list) {
  return static_cast<int64_t>(list.size());
}
inline Integer total(Sizes list) {
  Integer sum = 0;
  for (const int64_t each : list) sum = sum + each;
  return sum;
}
inline Integer product(Sizes list) {
  Integer result = 1;
  for (const int64_t each : list) result = result * each;
  return result;
}
inline bool contains(Sizes list, Integer item) { return std::find(list.begin(), list.end(), item) != list.end(); }
inline Integers starts(Sizes list) {
  Integers sums;
  Integer sum = 0;
  for (const int64_t each : list) {
    sums.push_back(sum);
    sum = sum + each;
  }
  return sums;
}
inline Integers joined(Sizes first, Sizes second) {
  Integers both = first;
  for (const int64_t each : second) both.push_back(each);
  return both;
}
inline bool same(Sizes first, Sizes second) {
  return std::equal(first.begin(), first.end(), second.begin(), second.end());
}
inline Shape broadcast(Sizes first, Sizes second) { return broadcast_shapes(first, second); }

// Returns sizes in which a -1 is replaced by the size that gives `count` elements. Throws ShapeError if there is none.
template <class List, class Size>
List completed_sizes(const List& requested, const Size& count) {
  List sizes = requested;
  int inferred = -1;
  for (int d = 0; d < sizes.rank(); ++d) {
    if (sizes[d] < -1) fail_with(OF_SHAPE_ERROR, "shape must not be negative, got {}", Size(sizes[d]));
    if (sizes[d] != -1) continue;
    if (inferred >= 0) fail_with(OF_INVALID_ARGUMENT, "shape must have at most one -1, got {}", requested);
    inferred = d;
    sizes[d] = 1;
  }
  const Size rest = count_elements(sizes);
  if (inferred >= 0 && rest == 0)
    fail_with(OF_SHAPE_ERROR, "shape {} has a 0, so its -1 cannot be inferred", requested);
  if (inferred >= 0 ? remainder(count, rest) != 0 : rest != count)
    fail_with(OF_SHAPE_ERROR, "shape {} does not hold the {} elements of input", requested, count);
  if (inferred >= 0) sizes[inferred] = floordiv(count, rest);
  return sizes;
}
inline Shape completed(Sizes requested, Integer count) { return completed_sizes<Shape, Integer>(requested, count); }

// Returns the number of elements of the range from `start` (inclusive) to `end` (exclusive) in steps of `step`. Throws
// InvalidArgument for a step of zero or in the wrong direction.
Integer range_length(const of_scalar& start, const of_scalar& end, const of_scalar& step);
// Returns the distance from 1 to the next larger number of a floating-point type.
double epsilon(of_dtype dtype);
// Returns the largest finite number of a floating-point type.
double largest(of_dtype dtype);
// Returns the lowest number of a real type: negative infinity if the type has it.
double lowest(of_dtype dtype);
// Returns the largest number of a floating-point type that is less than a number.
double largest_below(double number, of_dtype dtype);
// Returns the element of a tensor that has one as an integer. It waits for the device.
inline Integer integer(const Tensor& tensor) { return to_int64(item(tensor)); }
// Returns whether the element of a tensor that has one is not zero. It waits for the device. Where only shapes are
// inferred there are no elements, and what is checked of them is taken to hold.
inline bool truth(const Tensor& tensor) { return !tensor.has_memory() || to_double(item(tensor)) != 0; }
// Returns whether a real dtype can represent an integer.
inline bool fits(Integer value, of_dtype dtype) {
  const of_scalar scalar = int_scalar(value);
  return fits(scalar, dtype) && (!is_floating(dtype) || to_int64(rounded(scalar, dtype)) == value);
}

// The integers from `start` (inclusive) to `stop` (exclusive) in steps of `step`, for loops. Throws InvalidArgument for
// a step of 0.
class Range {
 public:
  class Iterator {
   public:
    Iterator(Integer value, Integer step, int64_t left) : value_(value), step_(step), left_(left) {}
    Integer operator*() const { return value_; }
    Iterator& operator++() {
      if (--left_ > 0) value_ = value_ + step_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    Integer value_, step_;
    int64_t left_;
  };

  Range(Integer start, Integer stop, Integer step) : start_(start), step_(step) {
    if (step == 0) fail(OF_INVALID_ARGUMENT, "the step of a range must not be zero");
    count_ = max(0, step > 0 ? ceil_div(stop - start, step) : ceil_div(start - stop, -step));
  }
  Iterator begin() const { return {start_, step_, count_}; }
  Iterator end() const { return {start_, step_, 0}; }
  size_t size() const { return static_cast<size_t>(count_); }

 private:
  Integer start_, step_;
  int64_t count_;
};

inline Range range(Integer stop) { return {0, stop, 1}; }
inline Range range(Integer start, Integer stop, Integer step = 1) { return {start, stop, step}; }

}  // namespace oneflow

#endif  // ONEFLOW_OPS_PROGRAM_FUNCTIONS_H_
