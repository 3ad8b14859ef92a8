// Memory of other libraries through DLPack.
#ifndef ONEFLOW_PYTHON_DLPACK_H_
#define ONEFLOW_PYTHON_DLPACK_H_

#include "objects.h"

namespace oneflow::python {

// Whether an object has a method __dlpack__.
bool gives_dlpack(PyObject* object);

// A new tensor over the memory of such an object, or of a capsule.
Ref tensor_from_dlpack(PyObject* object);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_DLPACK_H_
