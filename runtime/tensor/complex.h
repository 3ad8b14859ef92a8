// Complex tensors by their parts. No kernel knows complex numbers: what operators do with them, they do with the parts.
#ifndef ONEFLOW_TENSOR_COMPLEX_H_
#define ONEFLOW_TENSOR_COMPLEX_H_

#include "tensor/tensor.h"

namespace oneflow {

// The parts of a complex tensor as a view with one more dimension behind the others, of size 2: the real part and the
// imaginary one. ShapeError where no tensor has so many dimensions.
TensorRef view_as_real(const Tensor& tensor);

// The other way round. ShapeError unless the last dimension has size 2 and its elements lie side by side, with all
// others at even distances; DTypeError unless the parts are float32 or float64.
TensorRef view_as_complex(const Tensor& parts);

// One part of a complex tensor, as a view: the real one (0) or the imaginary one (1).
TensorRef part_of(const Tensor& tensor, int part);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_COMPLEX_H_
