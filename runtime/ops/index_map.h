// The maps of views, from the index of an element of the result to its place in the input. Records of kind `view` are
// programs over these functions (MAPS in codegen/intrinsics.py).
//
// A map is affine: every dimension of the result has a size and a step, the distance between elements whose index along
// this dimension differs by 1. The element at index 0 is `offset` away from the start. What a distance is depends on
// `Numbers`. With strides in elements (StridedNumbers), a map is the layout of a view. With formal sums of the input's
// dimensions (AxisNumbers in ops/dimension_map.h), it says which dimension of the result follows which dimension of the
// input. A test computes with sizes that have names. The functions are the same for all, and construct their result in
// place: a map is copied once.
//
//   input {2, 3}, steps {3, 1}, offset 0      transpose: {3, 2}, {1, 3}, 0     select(dim 1, 2): {2}, {3}, 2
//   input {2, 3}, steps {i, j}, offset 0      transpose: {3, 2}, {j, i}, 0     select(dim 1, 2): {2}, {i}, 2j
#ifndef ONEFLOW_OPS_INDEX_MAP_H_
#define ONEFLOW_OPS_INDEX_MAP_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/integer.h"
#include "base/shape.h"
#include "ops/program_functions.h"

namespace oneflow {

// A list with the functions of a Shape, for items that are not int64.
template <class Item>
class ItemList : public std::vector<Item> {
 public:
  using std::vector<Item>::vector;
  int rank() const { return static_cast<int>(this->size()); }
  Item& operator[](int dim) { return this->at(static_cast<size_t>(dim)); }
  const Item& operator[](int dim) const { return this->at(static_cast<size_t>(dim)); }
  void insert(int dim, Item item) { std::vector<Item>::insert(this->begin() + dim, std::move(item)); }
  void erase(int dim) { std::vector<Item>::erase(this->begin() + dim); }
};

template <class Numbers>
struct IndexMap {
  typename Numbers::Sizes sizes;
  typename Numbers::Steps steps;
  typename Numbers::Step offset;
  of_dtype dtype;           // of the elements that distances count
  bool needs_copy = false;  // whether no steps give these sizes, so that the input has to be copied first
};

// Returns strides for other sizes with the same elements in the same row-major order, or nothing if there are none.
//
// Groups the dimensions, from the last one on, into runs that a single stride traverses; the product of the sizes of
// each run must be the product of consecutive new sizes.
template <class List, class Size>
std::optional<List> regrouped_strides(const List& sizes, const List& strides, const List& to) {
  List result(to);
  int next = to.rank() - 1;  // the last new dimension that has no stride yet
  Size run = 1;              // the number of elements of the current run of old dimensions
  Size stride = 1;           // the stride between them
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {  // any strides fit a tensor without elements
    for (; next >= 0; --next) {
      result[next] = run;
      run = run * (to[next] == 0 ? Size(1) : Size(to[next]));
    }
    return result;
  }
  for (int d = sizes.rank() - 1; d >= 0; --d) {
    if (run == 1 && sizes[d] != 1) stride = strides[d];
    run = run * sizes[d];
    const bool run_continues = d > 0 && (sizes[d - 1] == 1 || run == 1 || strides[d - 1] == stride * run);
    if (run_continues) continue;
    Size filled = 1;
    while (next >= 0 && (filled < run || to[next] == 1)) {
      result[next] = stride * filled;
      filled = filled * to[next--];
    }
    if (filled != run) return std::nullopt;
    run = 1;
  }
  for (; next >= 0; --next) result[next] = 1;  // new dimensions of size 1 of a 0-d tensor
  return result;
}

// Strides and offsets of a tensor, in elements.
struct StridedNumbers {
  using Size = Integer;
  using Sizes = Shape;
  using Step = Integer;
  using Steps = Shape;

  // Returns the step of a new dimension of size 1 before a dimension with the given step and size.
  static Integer before(Integer step, Integer size) { return step * size; }
  // Returns the step of a new dimension of size 1 after all others.
  static Integer last() { return 1; }
  // Returns the step of a dimension whose elements are all the same one.
  static Integer repeated(Integer) { return 0; }
  // Convert a distance between elements with two parts each to one between parts; nothing is odd the other way.
  static Integer in_parts(Integer step) { return 2 * step; }
  static std::optional<Integer> in_pairs(Integer step) {
    return step % 2 == 0 ? std::optional<Integer>(step / 2) : std::nullopt;
  }
  static Integer one_part() { return 1; }
  static bool is_one_part(Integer step) { return step == 1; }
  static std::string text(const Shape& steps) { return to_text(steps); }
  static std::string text(Integer offset) { return std::to_string(static_cast<int64_t>(offset)); }
  static std::optional<Shape> regrouped(const Shape& sizes, const Shape& steps, const Shape& to) {
    return regrouped_strides<Shape, int64_t>(sizes, steps, to);
  }
};

// The position of an item in a list of sizes.
inline int position(Integer dim) { return static_cast<int>(static_cast<int64_t>(dim)); }

// Swaps two dimensions.
template <class Numbers>
IndexMap<Numbers> swap(const IndexMap<Numbers>& input, const auto& dim0, const auto& dim1) {
  IndexMap<Numbers> map = input;
  if (map.sizes.empty()) return map;  // the dims of a 0-d tensor are 0 or -1
  std::swap(map.sizes[position(dim0)], map.sizes[position(dim1)]);
  std::swap(map.steps[position(dim0)], map.steps[position(dim1)]);
  return map;
}

// Returns the dimensions in the order `dims`, which names each of them once.
template <class Numbers>
IndexMap<Numbers> permute(const IndexMap<Numbers>& map, const auto& dims) {
  IndexMap<Numbers> permuted = map;
  int d = 0;
  for (const auto& dim : dims) {
    permuted.sizes[d] = map.sizes[position(dim)];
    permuted.steps[d++] = map.steps[position(dim)];
  }
  return permuted;
}

// Inserts a dimension of size 1 before dimension `dim`, or after the last one.
template <class Numbers>
IndexMap<Numbers> insert(const IndexMap<Numbers>& input, const auto& dim) {
  IndexMap<Numbers> map = input;
  const int at = position(dim);
  const typename Numbers::Step step =
      at < map.sizes.rank() ? Numbers::before(map.steps[at], map.sizes[at]) : Numbers::last();
  map.sizes.insert(at, 1);
  map.steps.insert(at, step);
  return map;
}

// Repeats a dimension of size 1 `count` times.
template <class Numbers>
IndexMap<Numbers> repeat(const IndexMap<Numbers>& input, const auto& dim, const auto& count) {
  IndexMap<Numbers> map = input;
  map.steps[position(dim)] = Numbers::repeated(map.steps[position(dim)]);
  map.sizes[position(dim)] = count;
  return map;
}

// Fixes the index of a dimension, which the result lacks.
template <class Numbers>
IndexMap<Numbers> select(const IndexMap<Numbers>& input, const auto& dim, const auto& index) {
  IndexMap<Numbers> map = input;
  const typename Numbers::Step step = map.steps[position(dim)];
  map.offset = map.offset + step * index;
  map.sizes.erase(position(dim));
  map.steps.erase(position(dim));
  return map;
}

// Keeps `length` elements of a dimension: those at begin, begin + by, begin + 2 * by, ...
template <class Numbers>
IndexMap<Numbers> slice(const IndexMap<Numbers>& input, const auto& dim, const auto& begin, const auto& length,
                        const auto& by) {
  IndexMap<Numbers> map = input;
  const int at = position(dim);
  const typename Numbers::Step step = map.steps[at];
  if (!(begin == 0)) map.offset = map.offset + step * begin;
  // The step of fewer than two elements does not matter, and stays as it is, so that it cannot overflow.
  if (length > 1) map.steps[at] = step * by;
  map.sizes[at] = length;
  return map;
}

// Returns the diagonal of two dimensions of the same size as the last dimension, in place of both.
template <class Numbers>
IndexMap<Numbers> diagonal(const IndexMap<Numbers>& input, const auto& dim1, const auto& dim2) {
  IndexMap<Numbers> map = input;
  const int a = position(dim1), b = position(dim2);
  const typename Numbers::Step first = map.steps[a], second = map.steps[b];
  map.sizes.push_back(map.sizes[a]);
  map.steps.push_back(first + second);
  for (const int at : {std::max(a, b), std::min(a, b)}) {
    map.sizes.erase(at);
    map.steps.erase(at);
  }
  return map;
}

// Cuts a dimension into `count` windows, of which each begins `by` elements after the one before. The elements of a
// window, `size` of them, `apart` elements from each other, become the last dimension.
template <class Numbers>
IndexMap<Numbers> windows(const IndexMap<Numbers>& input, const auto& dim, const auto& count, const auto& by,
                          const auto& size, const auto& apart) {
  const typename Numbers::Step step = input.steps[position(dim)];
  IndexMap<Numbers> map = slice(input, dim, 0, count, by);
  map.sizes.push_back(size);
  map.steps.push_back(size > 1 ? step * apart : step);
  return map;
}

// Gives the elements other sizes, in the same row-major order.
template <class Numbers>
IndexMap<Numbers> reshape(const IndexMap<Numbers>& input, const auto& sizes) {
  IndexMap<Numbers> map{typename Numbers::Sizes(sizes), input.steps, input.offset, input.dtype, input.needs_copy};
  if (auto steps = Numbers::regrouped(input.sizes, input.steps, map.sizes))
    map.steps = *std::move(steps);
  else
    map.needs_copy = true;
  return map;
}

// Returns the map with the given strides and offset, whatever those of the input are.
IndexMap<StridedNumbers> as_strided(const IndexMap<StridedNumbers>& input, Sizes sizes, Sizes strides, Integer offset);

// Returns complex numbers as pairs of real ones, in a new last dimension of size 2.
template <class Numbers>
IndexMap<Numbers> as_parts(const IndexMap<Numbers>& input) {
  IndexMap<Numbers> map = input;
  for (auto& step : map.steps) step = Numbers::in_parts(step);
  map.offset = Numbers::in_parts(map.offset);
  map.sizes.push_back(2);
  map.steps.push_back(Numbers::one_part());
  map.dtype = part_dtype(map.dtype);
  return map;
}

// Returns pairs of real numbers in the last dimension as complex numbers. `needs_copy` says that the strides or the
// offset do not allow it.
template <class Numbers>
IndexMap<Numbers> as_pairs(const IndexMap<Numbers>& input) {
  IndexMap<Numbers> map = input;
  const int last = map.sizes.rank() - 1;
  map.needs_copy |= !Numbers::is_one_part(map.steps[last]);
  map.sizes.erase(last);
  map.steps.erase(last);
  for (int d = 0; d < last; ++d) {
    const auto step = Numbers::in_pairs(map.steps[d]);
    if (step)
      map.steps[d] = *step;
    else
      map.needs_copy |= map.sizes[d] > 1;
  }
  const auto offset = Numbers::in_pairs(map.offset);
  map.needs_copy |= !offset;
  map.offset = offset.value_or(map.offset);
  map.dtype = complex_dtype(map.dtype);
  return map;
}

// What programs ask of a map.
template <class Numbers>
bool needs_copy(const IndexMap<Numbers>& map) {
  return map.needs_copy;
}
template <class Numbers>
bool has_pairs(const IndexMap<Numbers>& map) {
  return complex_dtype(map.dtype) != OF_DTYPE_NONE;
}
template <class Numbers>
std::string strides_text(const IndexMap<Numbers>& map) {
  return Numbers::text(map.steps);
}
template <class Numbers>
std::string offset_text(const IndexMap<Numbers>& map) {
  return Numbers::text(map.offset);
}
template <class Numbers>
typename Numbers::Size numel(const IndexMap<Numbers>& map) {
  return product(map.sizes);
}
template <class Numbers>
const auto& sizes(const IndexMap<Numbers>& map) {
  return map.sizes;
}
template <class Numbers>
typename Numbers::Size rank(const IndexMap<Numbers>& map) {
  return map.sizes.rank();
}
template <class Numbers>
typename Numbers::Size size(const IndexMap<Numbers>& map, const auto& dim) {
  if (map.sizes.empty()) fail(OF_SHAPE_ERROR, "input must have at least 1 dimension, got 0");
  return map.sizes[position(dim)];
}
template <class Numbers>
of_dtype dtype(const IndexMap<Numbers>& map) {
  return map.dtype;
}
template <class Numbers>
bool is_complex(const IndexMap<Numbers>& map) {
  return is_complex(map.dtype);
}

}  // namespace oneflow

#endif  // ONEFLOW_OPS_INDEX_MAP_H_
