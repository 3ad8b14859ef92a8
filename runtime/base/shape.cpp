#include "base/shape.h"

#include <algorithm>

#include "base/dtype.h"
#include "base/error.h"

namespace oneflow {

void Shape::grow(int rank) {
  if (rank > OF_MAX_RANK) fail_rank(rank);
  int64_t* memory = new int64_t[OF_MAX_RANK];
  std::memcpy(memory, inline_, sizeof(inline_));
  data_ = memory;
}

void Shape::fail_rank(int rank) {
  fail(OF_SHAPE_ERROR, "a tensor has at most %d dimensions, got %d", OF_MAX_RANK, rank);
}

void Shape::resize(int rank, int64_t value) {
  const int old = rank_;
  resize_uninitialized(rank);
  for (int d = old; d < rank; ++d) data_[d] = value;
}

void Shape::insert(int dim, int64_t value) {
  push_back(value);
  std::rotate(data_ + dim, data_ + rank_ - 1, data_ + rank_);
}

void Shape::erase(int dim) {
  std::copy(data_ + dim + 1, data_ + rank_, data_ + dim);
  --rank_;
}

void Shape::swap(Shape& other) noexcept {
  const bool mine_is_inline = data_ == inline_;
  const bool other_is_inline = other.data_ == other.inline_;
  std::swap(inline_, other.inline_);
  std::swap(data_, other.data_);
  std::swap(rank_, other.rank_);
  if (mine_is_inline) other.data_ = other.inline_;
  if (other_is_inline) data_ = inline_;
}

bool same_sizes(Sizes a, Sizes b) {
  // std::equal() would call memcmp(), which is slower for the one or two sizes of most shapes.
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

std::string to_text(Sizes sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i) text += ", ";
    text += std::to_string(sizes[i]);
  }
  return text + "]";
}

int64_t count_elements(Sizes sizes) {
  // The other sizes must not overflow next to a size of 0 either: strides are products of the sizes.
  int64_t count = 1;
  bool is_empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) fail(OF_SHAPE_ERROR, "size must not be negative, got %ld", size);
    is_empty |= size == 0;
    if (__builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count))
      fail(OF_SHAPE_ERROR, "shape %s has more elements than an int64 can count", to_text(sizes).c_str());
  }
  return is_empty ? 0 : count;
}

int64_t count_bytes(Sizes sizes, of_dtype dtype) {
  int64_t bytes;
  if (__builtin_mul_overflow(count_elements(sizes), dtype_size(dtype), &bytes))
    fail(OF_SHAPE_ERROR, "shape %s of %s takes more bytes than an int64 can count", to_text(sizes).c_str(),
         dtype_name(dtype));
  return bytes;
}

Shape contiguous_strides(Sizes sizes) {
  const int rank = static_cast<int>(sizes.size());
  Shape strides(rank);
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

bool is_contiguous(Sizes sizes, Sizes strides) {
  int64_t expected = 1;
  bool fits = true;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 0) return true;
    if (sizes[d] == 1) continue;
    fits &= strides[d] == expected;
    expected *= sizes[d];
  }
  return fits;
}

Extent extent(Sizes sizes, Sizes strides) {
  Extent reach{0, 0};
  bool overflows = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return {0, -1};
    int64_t length;
    overflows |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &length);
    int64_t& end = length < 0 ? reach.lowest : reach.highest;
    overflows |= __builtin_add_overflow(end, length, &end);
  }
  if (overflows)
    fail(OF_SHAPE_ERROR, "shape %s with strides %s reaches beyond what an int64 can count", to_text(sizes).c_str(),
         to_text(strides).c_str());
  return reach;
}

LayoutFacts facts_of(Sizes sizes, Sizes strides) {
  LayoutFacts facts{1, true, {0, 0}};
  bool is_bad = false, is_empty = false;
  for (size_t d = sizes.size(); d-- > 0;) {
    const int64_t size = sizes[d], stride = strides[d];
    is_bad |= size < 0;
    is_empty |= size == 0;
    facts.is_contiguous &= (size == 1) | (stride == facts.count);
    int64_t length;
    is_bad |= __builtin_mul_overflow(size - 1, stride, &length);
    is_bad |= __builtin_add_overflow(facts.reach.lowest, std::min<int64_t>(length, 0), &facts.reach.lowest);
    is_bad |= __builtin_add_overflow(facts.reach.highest, std::max<int64_t>(length, 0), &facts.reach.highest);
    is_bad |= __builtin_mul_overflow(facts.count, std::max<int64_t>(size, 1), &facts.count);
  }
  if (is_bad | is_empty) [[unlikely]]
    return {count_elements(sizes), is_contiguous(sizes, strides), extent(sizes, strides)};
  return facts;
}

Span span_of(Sizes sizes, Sizes strides, of_dtype dtype) {
  const Extent reach = extent(sizes, strides);
  const int64_t size = dtype_size(dtype);
  int64_t before, after;
  Span span;
  if (__builtin_mul_overflow(reach.lowest, -size, &before) || __builtin_mul_overflow(reach.highest, size, &after) ||
      __builtin_add_overflow(before, after, &span.bytes) || __builtin_add_overflow(span.bytes, size, &span.bytes))
    fail(OF_SHAPE_ERROR, "shape %s with strides %s of %s takes more bytes than an int64 can count",
         to_text(sizes).c_str(), to_text(strides).c_str(), dtype_name(dtype));
  span.before = before;
  return span;
}

void normalize_unused_strides(Sizes sizes, Shape& strides) {
  constexpr int64_t kMaxStride = int64_t{1} << 53;  // more elements than any memory holds
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  for (int d = 0; d < strides.rank(); ++d)
    if ((is_empty || sizes[d] == 1) && (strides[d] > kMaxStride || strides[d] < -kMaxStride)) strides[d] = 1;
}

bool overlaps_itself(Sizes sizes, Sizes strides) {
  struct Dim {
    int64_t stride, size;
  };
  Dim dims[OF_MAX_RANK];
  int count = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) dims[count++] = {std::abs(strides[d]), sizes[d]};
  }
  std::sort(dims, dims + count, [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  // There is no overlap if each stride is larger than the extent of all dimensions with smaller strides.
  int64_t reach = 0;
  for (int i = 0; i < count; ++i) {
    if (dims[i].stride <= reach) return true;
    reach += dims[i].stride * (dims[i].size - 1);
  }
  return false;
}

namespace {

[[noreturn]] void fail_broadcast(Sizes a, Sizes b, int dim, int64_t size_a, int64_t size_b) {
  fail(OF_SHAPE_ERROR, "shapes %s and %s do not broadcast: dimension %d has sizes %ld and %ld", to_text(a).c_str(),
       to_text(b).c_str(), dim, size_a, size_b);
}

}  // namespace

Shape broadcast_shapes(Sizes a, Sizes b) {
  const bool a_is_longer = a.size() >= b.size();
  Shape result(a_is_longer ? a : b);
  const Sizes shorter = a_is_longer ? b : a;
  const int shift = result.rank() - static_cast<int>(shorter.size());
  for (int d = shift; d < result.rank(); ++d) {
    const int64_t size = shorter[d - shift];
    if (size == result[d] || size == 1) continue;
    if (result[d] != 1) fail_broadcast(a, b, d, a_is_longer ? result[d] : size, a_is_longer ? size : result[d]);
    result[d] = size;
  }
  return result;
}

Shape broadcast_strides(Sizes sizes, Sizes strides, Sizes to) {
  const int shift = static_cast<int>(to.size()) - static_cast<int>(sizes.size());
  if (shift < 0)
    fail(OF_SHAPE_ERROR, "shape %s does not broadcast to %s: it has more dimensions", to_text(sizes).c_str(),
         to_text(to).c_str());
  Shape result(static_cast<int>(to.size()));
  for (int d = shift; d < result.rank(); ++d) {
    const int64_t size = sizes[d - shift];
    if (size == to[d])
      result[d] = strides[d - shift];
    else if (size != 1)
      fail_broadcast(sizes, to, d, size, to[d]);
  }
  return result;
}

int normalize_dim(int64_t dim, int rank, const char* argument) {
  const int64_t reach = std::max(rank, 1);
  if (dim < -reach || dim >= reach)
    fail(OF_INDEX_OUT_OF_RANGE, "%s must be between %ld and %ld for a tensor with %d dimension%s, got %ld", argument,
         -reach, reach - 1, rank, rank == 1 ? "" : "s", dim);
  return static_cast<int>(dim < 0 ? dim + reach : dim);
}

}  // namespace oneflow
