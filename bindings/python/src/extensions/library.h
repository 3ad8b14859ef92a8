// Libraries of operators: load_library(), and the functions of oneflow_py.ops.
#ifndef ONEFLOW_PYTHON_LIBRARY_H_
#define ONEFLOW_PYTHON_LIBRARY_H_

#include "objects.h"

namespace oneflow::python {

// Adds load_library() and the module `ops`.
bool add_libraries(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_LIBRARY_H_
