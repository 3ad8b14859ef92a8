// Copies between two strided layouts in host memory.
#ifndef ONEFLOW_TENSOR_COPY_STRIDED_H_
#define ONEFLOW_TENSOR_COPY_STRIDED_H_

#include "base/shape.h"

namespace oneflow {

// Copies elements of `element_bytes` (1, 2, 4, 8 or 16) bytes each. Strides are in elements; `source` and `destination`
// are the addresses of the element at index 0. The memory must not overlap.
void copy_strided(void* destination, Sizes destination_strides, const void* source, Sizes source_strides, Sizes sizes,
                  int64_t element_bytes);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_COPY_STRIDED_H_
