// Sizes and strides: a short list of int64 without heap memory up to rank 6, and the arithmetic on it.
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

// A list of at most OF_MAX_RANK integers (ShapeError beyond). Converts to the span `Sizes`, which functions take.
class Shape {
 public:
  using value_type = int64_t;

  Shape() noexcept : data_(inline_), rank_(0) {}
  explicit Shape(int rank, int64_t value = 0) : Shape() { resize(rank, value); }
  Shape(std::initializer_list<int64_t> values) : Shape(Sizes(values.begin(), values.size())) {}
  Shape(Sizes values) : Shape() { assign(values); }  // NOLINT: implicit on purpose
  Shape(const Shape& other) : Shape() { *this = other; }
  Shape(Shape&& other) noexcept : Shape() { *this = std::move(other); }
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

  // `values` must not lie inside this list.
  void assign(Sizes values) {
    resize_uninitialized(static_cast<int>(values.size()));
    if (rank_) std::memcpy(data_, values.data(), values.size_bytes());
  }
  void resize(int rank, int64_t value = 0);
  void push_back(int64_t value) {
    resize_uninitialized(rank_ + 1);
    data_[rank_ - 1] = value;
  }
  void insert(int dim, int64_t value);
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
  // Of a rank that needs no heap memory. All of the inline elements, for a copy of fixed length is a few moves.
  void copy_short(const Shape& other) noexcept {
    rank_ = other.rank_;
    std::memmove(data_, other.data_, sizeof(inline_));
  }
  void resize_uninitialized(int rank) {
    if (rank > kInline && data_ == inline_) [[unlikely]]
      grow(rank);
    else if (rank > OF_MAX_RANK) [[unlikely]]
      refuse(rank);
    rank_ = rank;
  }
  void grow(int rank);
  [[noreturn]] static void refuse(int rank);

  int64_t* data_;  // inline_, or OF_MAX_RANK elements on the heap
  int32_t rank_;
  int64_t inline_[kInline] = {};
};

bool same_sizes(Sizes a, Sizes b);

// "[2, 3]"
std::string to_text(Sizes sizes);

// The number of elements. ShapeError for a negative size, or where the product of the sizes overflows int64.
int64_t count_elements(Sizes sizes);
// The bytes that contiguous memory takes; ShapeError when they overflow int64.
int64_t count_bytes(Sizes sizes, of_dtype dtype);

// Row-major strides: {3, 1} for {2, 3}. A size of 0 counts as 1, as in PyTorch.
Shape contiguous_strides(Sizes sizes);
// Whether elements lie row-major without gaps. Strides of dimensions of size 1 do not matter; nor do any without
// elements.
bool is_contiguous(Sizes sizes, Sizes strides);

// The lowest and the highest element position that sizes and strides reach, relative to the first element; {0, -1}
// without elements. ShapeError on overflow.
struct Extent {
  int64_t lowest, highest;
};
Extent extent(Sizes sizes, Sizes strides);
// The same in bytes: those that lie before the first element, and all. ShapeError on overflow.
struct Span {
  int64_t before, bytes;
};
Span span_of(Sizes sizes, Sizes strides, of_dtype dtype);

// Strides along which nothing steps, because their dimension has one element or the tensor has none, may be anything in
// what others hand over. Those that no memory could hold become 1, so that arithmetic on them cannot overflow.
void drop_absurd_strides(Sizes sizes, Shape& strides);

// Whether two different positions may be one element (a broadcast dimension, say). May err towards true only for
// strides that no sequence of slicing and transposing gives.
bool overlaps_itself(Sizes sizes, Sizes strides);

// The common shape of operands: dimensions line up at the end, size 1 stretches.
// ShapeError "shapes [2] and [3] do not broadcast: dimension 0 has sizes 2 and 3", dimensions counted in the longer
// shape.
Shape broadcast_shapes(Sizes a, Sizes b);
// The strides that let an operand of `sizes` take part with shape `to`: 0 where it is stretched. ShapeError as above.
Shape broadcast_strides(Sizes sizes, Sizes strides, Sizes to);

// A dimension counted from the end made non-negative.
// IndexOutOfRange "dim must be between -2 and 1 for a tensor with 2 dimensions, got 2"; `argument` is the first word. A
// 0-d tensor takes -1 and 0.
int normalize_dim(int64_t dim, int rank, const char* argument);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SHAPE_H_
