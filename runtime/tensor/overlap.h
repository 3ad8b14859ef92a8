// Whether two tensors have elements in common.
#ifndef ONEFLOW_TENSOR_OVERLAP_H_
#define ONEFLOW_TENSOR_OVERLAP_H_

#include "tensor/tensor.h"

namespace oneflow {

// kExact: the same elements in the same order, which elementwise operators may read and write at once.
enum class Overlap { kNone, kExact, kPartial };

// What a write to `written` means for the elements of `other`. Exact for all strides that slicing and transposing give;
// layouts too tangled to decide count as overlapping.
Overlap overlap(const Tensor& written, const Tensor& other);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_OVERLAP_H_
