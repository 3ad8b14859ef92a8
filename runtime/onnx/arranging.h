// Rearrangements of tensors that several operators of ONNX need.
#ifndef ONEFLOW_ONNX_ARRANGING_H_
#define ONEFLOW_ONNX_ARRANGING_H_

#include <oneflow/oneflow.hpp>
#include <vector>

namespace oneflow::onnx {

// Returns a copy of a tensor's sizes.
std::vector<int64_t> sizes_of(const Tensor& tensor);
// Adds zeros before and after a dimension.
Tensor pad_dim(const Tensor& x, int64_t dim, int64_t before, int64_t after);
// Returns the elements `start` to `end` (exclusive) of a dimension, with zeros after its last one.
Tensor range_of_dim(const Tensor& x, int64_t dim, int64_t start, int64_t end);
// Returns the places (time, batch) of the steps of sequences whose first `lengths` (batch) steps are reversed.
Tensor reversed_places(int64_t time, const Tensor& lengths);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_ARRANGING_H_
