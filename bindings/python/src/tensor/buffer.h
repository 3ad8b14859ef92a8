// Tensors over the memory of other libraries, through Python's buffer protocol.
#ifndef ONEFLOW_PYTHON_BUFFER_H_
#define ONEFLOW_PYTHON_BUFFER_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

// Returns a new tensor over the memory of an object that exports a buffer, such as a NumPy array, or with `copy` over a
// copy of it. Shared memory stays exported until the last tensor over it is destroyed. Returns NULL with an exception
// on failure; `function` and `name` begin its text.
PyObject* tensor_from_buffer(PyObject* object, const char* function, const char* name, bool copy);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_BUFFER_H_
