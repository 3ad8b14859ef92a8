// Tensors from Python's own data.
#ifndef ONEFLOW_PYTHON_CREATION_H_
#define ONEFLOW_PYTHON_CREATION_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

// A new tensor from numbers, nested sequences, arrays (anything with a buffer) or tensors, always copied. `name` is
// what error texts call the data, as in "tensor: data". Without a dtype it is that of the data; `if_empty` is for data
// without any element.
struct TensorRequest {
  const char* function;
  const char* name;
  const of_dtype* dtype = nullptr;
  const of_device* device = nullptr;
  of_dtype if_empty = OF_DTYPE_COUNT;  // OF_DTYPE_COUNT: the default dtype
};
PyObject* create_tensor(PyObject* data, const TensorRequest& request);

// The same elements as another element type.
Ref cast_tensor(PyObject* tensor, of_dtype dtype);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CREATION_H_
