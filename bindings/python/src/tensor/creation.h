// Creates tensors from Python data.
#ifndef ONEFLOW_PYTHON_CREATION_H_
#define ONEFLOW_PYTHON_CREATION_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

// The properties of a tensor to create. Error texts begin with the function and the name of the data: "tensor: data".
struct TensorRequest {
  const char* function;
  const char* name;
  const of_dtype* dtype = nullptr;    // NULL: the dtype of the data
  const of_device* device = nullptr;  // NULL: the device of a tensor, the default device for other data
  of_dtype if_empty = OF_DTYPE_NONE;  // the dtype of data without elements; OF_DTYPE_NONE: the default dtype
};
// Returns a new tensor with a copy of the data: numbers, nested sequences, tensors, or arrays with a buffer or DLPack.
// Returns NULL with an exception on failure.
PyObject* create_tensor(PyObject* data, const TensorRequest& request);

// Returns a tensor converted to another dtype; an empty Ref with an exception on failure.
Ref cast_tensor(PyObject* tensor, of_dtype dtype);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CREATION_H_
