#include "ops/index_map.h"

namespace oneflow {

IndexMap<StridedNumbers> as_strided(const IndexMap<StridedNumbers>& input, Sizes sizes, Sizes strides, Integer offset) {
  IndexMap<StridedNumbers> map{sizes, strides, offset, input.dtype, input.needs_copy};
  normalize_unused_strides(sizes, map.steps);
  return map;
}

}  // namespace oneflow
