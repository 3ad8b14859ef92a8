// Detects memory that two tensors share.
#ifndef ONEFLOW_TENSOR_OVERLAP_H_
#define ONEFLOW_TENSOR_OVERLAP_H_

#include "tensor/tensor.h"

namespace oneflow {

// How two tensors overlap. kExact: both have the same elements at the same indices, so that an elementwise operator may
// read one and write the other.
enum class Overlap { kNone, kExact, kPartial };

// Returns how a write to `written` affects the elements of `other`. The result is exact for all layouts that come from
// slicing and transposing; layouts that take too long to decide count as kPartial.
Overlap overlap(const Tensor& written, const Tensor& other);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_OVERLAP_H_
