#include "ops/index_map.h"

namespace oneflow {

// Groups the dimensions, from the last one on, into runs that a single stride traverses; the product of the sizes of
// each run must be the product of consecutive new sizes.
std::optional<Shape> StridedNumbers::regrouped(const Shape& sizes, const Shape& strides, const Shape& to) {
  if (count_elements(sizes) == 0) return contiguous_strides(to);
  Shape result(to.rank());
  int next = to.rank() - 1;  // the last new dimension that has no stride yet
  int64_t run = 1;           // the number of elements of the current run of old dimensions
  int64_t stride = 1;        // the stride between them
  for (int d = sizes.rank() - 1; d >= 0; --d) {
    if (run == 1 && sizes[d] != 1) stride = strides[d];
    run *= sizes[d];
    const bool run_continues = d > 0 && (sizes[d - 1] == 1 || run == 1 || strides[d - 1] == stride * run);
    if (run_continues) continue;
    int64_t filled = 1;
    while (next >= 0 && (filled < run || to[next] == 1)) {
      result[next] = stride * filled;
      filled *= to[next--];
    }
    if (filled != run) return std::nullopt;
    run = 1;
  }
  for (; next >= 0; --next) result[next] = 1;  // new dimensions of size 1 of a 0-d tensor
  return result;
}

IndexMap<StridedNumbers> as_strided(IndexMap<StridedNumbers> map, Sizes sizes, Sizes strides, Integer offset) {
  map.sizes = sizes;
  map.steps = strides;
  normalize_unused_strides(sizes, map.steps);
  map.offset = offset;
  return map;
}

}  // namespace oneflow
