#include "ops/view_functions.h"

#include <algorithm>

#include "base/error.h"

namespace oneflow {

namespace {

long long number(int64_t value) { return value; }  // for %lld in error texts

int64_t clamp_end(int64_t position, int64_t size, int64_t lowest, int64_t highest) {
  if (position < 0) position += size;
  return std::clamp(position, lowest, highest);
}

// The first index of a slice and the index before which it stops, clamped to the valid range for the sign of the step.
struct Ends {
  int64_t begin, end;
};

Ends slice_ends(const of_value& start, const of_value& end, int64_t step, int64_t size) {
  if (step == 0) fail(OF_INVALID_ARGUMENT, "step must not be zero");
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto resolve = [&](const of_value& value, int64_t otherwise) {
    return value.kind == OF_VALUE_INT ? clamp_end(value.as.integer, size, lowest, highest) : otherwise;
  };
  return {resolve(start, step > 0 ? lowest : highest), resolve(end, step > 0 ? highest : lowest)};
}

}  // namespace

int64_t at_dim(const Shape& list, int64_t dim) {
  if (list.empty()) fail(OF_SHAPE_ERROR, "input must have at least 1 dimension, got 0");
  return list[static_cast<int>(dim)];
}

Shape swap(Shape list, int64_t a, int64_t b) {
  if (!list.empty()) std::swap(list[static_cast<int>(a)], list[static_cast<int>(b)]);
  return list;
}

Shape transposed(Shape list) {
  if (list.rank() > 2) fail(OF_SHAPE_ERROR, "input must have at most 2 dimensions, got %d", list.rank());
  return list.rank() == 2 ? swap(list, 0, 1) : list;
}

Shape replace(Shape list, int64_t dim, int64_t value) {
  at_dim(list, dim);
  list[static_cast<int>(dim)] = value;
  return list;
}

Shape insert(Shape list, int64_t dim, int64_t value) {
  list.insert(static_cast<int>(dim), value);
  return list;
}

Shape remove(Shape list, int64_t dim) {
  at_dim(list, dim);
  list.erase(static_cast<int>(dim));
  return list;
}

Shape remove(Shape list, int64_t dim1, int64_t dim2) {
  if (list.rank() < 2) fail(OF_SHAPE_ERROR, "input must have at least 2 dimensions, got %d", list.rank());
  if (dim1 == dim2)
    fail(OF_INVALID_ARGUMENT, "dim1 and dim2 must be different dimensions, got %lld twice", number(dim1));
  list.erase(static_cast<int>(std::max(dim1, dim2)));
  list.erase(static_cast<int>(std::min(dim1, dim2)));
  return list;
}

Shape append(Shape list, int64_t value) {
  list.push_back(value);
  return list;
}

Shape permute(const Shape& list, Sizes dims) {
  uint32_t seen = 0;
  for (const int64_t dim : dims) seen |= uint32_t{1} << dim;
  const uint32_t all = list.empty() ? 0 : ~uint32_t{0} >> (OF_MAX_RANK - list.rank());
  if (dims.size() != list.size() || seen != all)
    fail(OF_INVALID_ARGUMENT, "dims must name each of the %d dimensions once, got %s", list.rank(),
         to_text(dims).c_str());
  Shape permuted;
  for (const int64_t dim : dims) permuted.push_back(list[static_cast<int>(dim)]);
  return permuted;
}

int64_t insertion_point(int64_t dim, int64_t rank) {
  if (dim < -rank - 1 || dim > rank)
    fail(OF_INDEX_OUT_OF_RANGE, "dim must be between %lld and %lld for a tensor with %lld dimension%s, got %lld",
         number(-rank - 1), number(rank), number(rank), rank == 1 ? "" : "s", number(dim));
  return dim < 0 ? dim + rank + 1 : dim;
}

Shape without_ones(const Shape& list, const Shape& sizes) {
  Shape kept;
  for (int d = 0; d < sizes.rank(); ++d)
    if (sizes[d] != 1) kept.push_back(list[d]);
  return kept;
}

Shape without_ones_at(const Shape& list, const Shape& sizes, Sizes dims) {
  Shape kept;
  for (int d = 0; d < sizes.rank(); ++d) {
    const bool is_named = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!is_named || sizes[d] != 1) kept.push_back(list[d]);
  }
  return kept;
}

Shape expand_sizes(const Shape& sizes, Sizes to) {
  const int lead = static_cast<int>(to.size()) - sizes.rank();
  if (lead < 0)
    fail(OF_SHAPE_ERROR, "size %s has fewer dimensions than input of shape %s", to_text(to).c_str(),
         to_text(sizes).c_str());
  Shape expanded(to);
  for (int d = 0; d < expanded.rank(); ++d) {
    if (d < lead) {
      if (to[d] < 0) fail(OF_SHAPE_ERROR, "size %lld is not allowed for the new dimension %d", number(to[d]), d);
      continue;
    }
    const int64_t own = sizes[d - lead];
    if (to[d] == -1) {
      expanded[d] = own;
    } else if (to[d] != own && (own != 1 || to[d] < 0)) {
      fail(OF_SHAPE_ERROR, "dimension %d of size %lld cannot be expanded to size %lld", d - lead, number(own),
           number(to[d]));
    }
  }
  return expanded;
}

Shape expand_strides(const Shape& sizes, const Shape& strides, Sizes to) {
  const Shape expanded = expand_sizes(sizes, to);
  const int lead = expanded.rank() - sizes.rank();
  Shape result(expanded.rank());
  for (int d = lead; d < expanded.rank(); ++d)
    result[d] = sizes[d - lead] == 1 && expanded[d] != 1 ? 0 : strides[d - lead];
  return result;
}

int64_t element(int64_t index, int64_t dim, int64_t size) {
  if (index < -size || index >= size)
    fail(OF_INDEX_OUT_OF_RANGE, "index %lld is out of range for dimension %lld of size %lld", number(index),
         number(dim), number(size));
  return index < 0 ? index + size : index;
}

int64_t slice_begin(const of_value& start, int64_t step, int64_t size) {
  const Ends ends = slice_ends(start, {}, step, size);
  return std::clamp<int64_t>(ends.begin, 0, std::max<int64_t>(size - 1, 0));
}

int64_t slice_length(const of_value& start, const of_value& end, int64_t step, int64_t size) {
  const Ends ends = slice_ends(start, end, step, size);
  const int64_t distance = step > 0 ? ends.end - ends.begin : ends.begin - ends.end;
  if (distance <= 0) return 0;
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1;
}

int64_t slice_stride(int64_t stride, int64_t step, int64_t length) { return length > 1 ? stride * step : stride; }

int64_t narrow_begin(int64_t start, int64_t length, int64_t dim, int64_t size) {
  const int64_t begin = start < 0 ? start + size : start;
  if (begin < 0 || begin > size || length > size - begin)
    fail(OF_INDEX_OUT_OF_RANGE, "start %lld and length %lld exceed dimension %lld of size %lld", number(start),
         number(length), number(dim), number(size));
  return begin;
}

int64_t diagonal_length(const Shape& sizes, int64_t dim1, int64_t dim2, int64_t offset) {
  const int64_t rows = at_dim(sizes, dim1), columns = at_dim(sizes, dim2);
  if (offset >= 0) return offset >= columns ? 0 : std::min(rows, columns - offset);
  return offset <= -rows ? 0 : std::min(rows + offset, columns);
}

int64_t diagonal_begin(const Shape& sizes, const Shape& strides, int64_t dim1, int64_t dim2, int64_t offset) {
  if (diagonal_length(sizes, dim1, dim2, offset) == 0) return 0;
  return offset >= 0 ? offset * at_dim(strides, dim2) : -offset * at_dim(strides, dim1);
}

Shape same_length(Sizes strides, Sizes sizes) {
  if (strides.size() != sizes.size())
    fail(OF_INVALID_ARGUMENT, "stride and size must have the same length, got %zu and %zu", strides.size(),
         sizes.size());
  Shape checked(strides);
  normalize_unused_strides(sizes, checked);
  return checked;
}

}  // namespace oneflow
