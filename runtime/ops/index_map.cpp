#include "ops/index_map.h"

namespace oneflow {

IndexMap<StridedNumbers> as_strided(IndexMap<StridedNumbers> map, Sizes sizes, Sizes strides, Integer offset) {
  map.sizes = sizes;
  map.steps = strides;
  normalize_unused_strides(sizes, map.steps);
  map.offset = offset;
  return map;
}

}  // namespace oneflow
