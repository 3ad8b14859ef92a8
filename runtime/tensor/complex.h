// Views between complex tensors and their real and imaginary parts. Most operators compute with the parts, because few
// kernels support complex numbers.
#ifndef ONEFLOW_TENSOR_COMPLEX_H_
#define ONEFLOW_TENSOR_COMPLEX_H_

#include "tensor/tensor.h"

namespace oneflow {

// Returns a view of a complex tensor as a real tensor, with an additional last dimension of size 2 for the real and the
// imaginary part. Throws ShapeError if the tensor already has OF_MAX_RANK dimensions.
TensorRef view_as_real(const Tensor& tensor);

// Returns a view of a real tensor as a complex tensor, without the last dimension. Throws DTypeError unless the dtype
// is float32 or float64, and ShapeError unless the last dimension has size 2 and stride 1, and the offset and all other
// strides are even.
TensorRef view_as_complex(const Tensor& parts);

// Returns a view of the real part (`part` is 0) or of the imaginary part (1) of a complex tensor.
TensorRef part_of(const Tensor& tensor, int part);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_COMPLEX_H_
