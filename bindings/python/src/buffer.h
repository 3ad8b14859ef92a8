// Memory of other libraries through Python's buffer protocol.
#ifndef ONEFLOW_PYTHON_BUFFER_H_
#define ONEFLOW_PYTHON_BUFFER_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

// A new tensor over the memory of an object with a buffer, such as a NumPy array: shared as long as any tensor uses it,
// or copied. `function` and `name` are for error texts.
PyObject* tensor_from_buffer(PyObject* object, const char* function, const char* name, bool copy);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_BUFFER_H_
