// Tensors over the memory of other libraries, through DLPack.
#ifndef ONEFLOW_PYTHON_DLPACK_H_
#define ONEFLOW_PYTHON_DLPACK_H_

#include "objects.h"

namespace oneflow::python {

// Returns whether an object has a __dlpack__ method.
bool has_dlpack(PyObject* object);

// Returns a new tensor over the memory of an object with a __dlpack__ method, or of a DLPack capsule. Returns an empty
// Ref with an exception on failure.
Ref tensor_from_dlpack(PyObject* object);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_DLPACK_H_
