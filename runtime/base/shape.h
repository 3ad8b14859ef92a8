// Sizes and strides as lists of int64, which need no heap memory up to rank 6, and the arithmetic on them.
#ifndef ONEFLOW_BASE_SHAPE_H_
#define ONEFLOW_BASE_SHAPE_H_

#include <oneflow/types.h>

#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

namespace oneflow {

using Sizes = std::span<const int64_t>;

// A list of at most OF_MAX_RANK integers: sizes, strides or dimensions. An operation that exceeds this length throws
// ShapeError. Functions take the span `Sizes`, to which a Shape converts implicitly.
class Shape {
 public:
  using value_type = int64_t;

  Shape() noexcept : data_(inline_), rank_(0), inline_{} {}
  explicit Shape(int rank, int64_t value = 0) : Shape() { resize(rank, value); }
  Shape(std::initializer_list<int64_t> values) : Shape(Sizes(values.begin(), values.size())) {}
  Shape(Sizes values) : Shape() { assign(values); }  // NOLINT: implicit on purpose
  Shape(const Shape& other) : data_(inline_), rank_(0) { *this = other; }
  Shape(Shape&& other) noexcept : data_(inline_), rank_(0) { *this = std::move(other); }
  Shape& operator=(const Shape& other) {
    if (other.rank_ <= kInline) [[likely]]
      copy_short(other);
    else if (this != &other)
      assign(other);
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (other.data_ == other.inline_) [[likely]]
      copy_short(other);
    else
      swap(other);
    return *this;
  }
  ~Shape() {
    if (data_ != inline_) [[unlikely]]
      delete[] data_;
  }

  int rank() const { return rank_; }
  size_t size() const { return static_cast<size_t>(rank_); }
  bool empty() const { return rank_ == 0; }
  int64_t* data() { return data_; }
  const int64_t* data() const { return data_; }
  int64_t& operator[](int dim) { return data_[dim]; }
  int64_t operator[](int dim) const { return data_[dim]; }
  int64_t* begin() { return data_; }
  int64_t* end() { return data_ + rank_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + rank_; }
  int64_t& back() { return data_[rank_ - 1]; }
  int64_t back() const { return data_[rank_ - 1]; }
  operator Sizes() const { return {data_, size()}; }  // NOLINT: implicit on purpose

  // Replaces the content. `values` must not refer to this list's own memory.
  void assign(Sizes values) {
    resize_uninitialized(static_cast<int>(values.size()));
    copy(data_, values.data(), rank_);
  }
  // Changes the length; new items are `value`.
  void resize(int rank, int64_t value = 0);
  void push_back(int64_t value) {
    resize_uninitialized(rank_ + 1);
    data_[rank_ - 1] = value;
  }
  // Inserts an item before index `dim`, 0 <= dim <= rank().
  void insert(int dim, int64_t value);
  // Removes the item at index `dim`, 0 <= dim < rank().
  void erase(int dim);
  void clear() { rank_ = 0; }
  void swap(Shape& other) noexcept;

  friend bool operator==(const Shape& a, const Shape& b) { return equal(a, b); }

 private:
  static constexpr int kInline = 6;
  static bool equal(Sizes a, Sizes b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  // Copies a few items without a call: a memcpy of unknown length takes longer than the moves.
  static void copy(int64_t* to, const int64_t* from, int count) noexcept {
    switch (count) {
      case 4:
        to[3] = from[3];
        [[fallthrough]];
      case 3:
        to[2] = from[2];
        [[fallthrough]];
      case 2:
        to[1] = from[1];
        [[fallthrough]];
      case 1:
        to[0] = from[0];
        [[fallthrough]];
      case 0:
        return;
      default:
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(int64_t));
    }
  }
  // Copies a list that fits inline. Copies all inline items: a copy of fixed length compiles to a few moves.
  void copy_short(const Shape& other) noexcept {
    rank_ = other.rank_;
    std::memcpy(data_, other.data_, sizeof(inline_));
  }
  void resize_uninitialized(int rank) {
    if (rank > kInline && data_ == inline_) [[unlikely]]
      grow(rank);
    else if (rank > OF_MAX_RANK) [[unlikely]]
      fail_rank(rank);
    rank_ = rank;
  }
  // Moves the items from inline memory to the heap.
  void grow(int rank);
  [[noreturn]] static void fail_rank(int rank);

  int64_t* data_;  // inline_, or memory for OF_MAX_RANK items on the heap
  int32_t rank_;
  int64_t inline_[kInline];
};

// Returns whether two shapes are equal.
bool same_sizes(Sizes a, Sizes b);

// Formats a list as in error texts: "[2, 3]".
std::string to_text(Sizes sizes);

// Returns the number of elements. Throws ShapeError for a negative size, and if the product of the sizes, where a size
// of 0 counts as 1, overflows int64.
int64_t count_elements(Sizes sizes);
// Returns the number of bytes of a contiguous tensor. Throws ShapeError as count_elements(), and if the bytes overflow
// int64.
int64_t count_bytes(Sizes sizes, of_dtype dtype);

// Returns row-major strides in elements: {3, 1} for {2, 3}. A size of 0 counts as 1, as in PyTorch.
Shape contiguous_strides(Sizes sizes);
// Returns whether the elements are row-major without gaps. The strides of dimensions of size 1 do not matter. A tensor
// without elements is always contiguous.
bool is_contiguous(Sizes sizes, Sizes strides);

// The lowest and the highest offset of an element, in elements relative to the first element; {0, -1} for a tensor
// without elements.
struct Extent {
  int64_t lowest, highest;
};
// Returns the extent of a layout. Throws ShapeError if an offset overflows int64.
Extent extent(Sizes sizes, Sizes strides);
// What a view of a layout needs to know of it, computed in one pass.
struct LayoutFacts {
  int64_t count;       // of elements
  bool is_contiguous;  // see is_contiguous()
  Extent reach;        // see extent()
};
// Throws ShapeError as count_elements() and extent().
LayoutFacts facts_of(Sizes sizes, Sizes strides);
// The memory that a layout spans: the bytes before the first element, which negative strides reach, and the bytes from
// the lowest address to the end of the highest element.
struct Span {
  int64_t before, bytes;
};
// Returns the memory that a layout spans; no bytes without elements. Throws ShapeError if a value overflows int64.
Span span_of(Sizes sizes, Sizes strides, of_dtype dtype);

// Replaces excessively large strides of dimensions that are never stepped along by 1, so that arithmetic on strides
// cannot overflow. These are dimensions of size 1, and all dimensions of a tensor without elements. External sources
// may give them any stride.
void normalize_unused_strides(Sizes sizes, Shape& strides);

// Returns whether two different indices may refer to the same element, as in a dimension of stride 0. The result is
// exact for all layouts that come from slicing and transposing; for others, it may be true without an overlap.
bool overlaps_itself(Sizes sizes, Sizes strides);

// Returns the shape that two operands broadcast to: dimensions are aligned at the end, and size 1 matches any size.
// Throws ShapeError "shapes [2] and [3] do not broadcast: dimension 0 has sizes 2 and 3"; the dimension is that of the
// shape of higher rank.
Shape broadcast_shapes(Sizes a, Sizes b);
// Returns the strides of an operand of shape `sizes` broadcast to shape `to`: 0 in the dimensions that are expanded.
// Throws ShapeError as broadcast_shapes().
Shape broadcast_strides(Sizes sizes, Sizes strides, Sizes to);

// Returns a dimension that may count from the end as a non-negative one. A 0-d tensor accepts -1 and 0.
// Throws IndexOutOfRange "dim must be between -2 and 1 for a tensor with 2 dimensions, got 2", where the first word is
// `argument`.
int normalize_dim(int64_t dim, int rank, const char* argument);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SHAPE_H_
