// Numbers of Python and NumPy.
#ifndef ONEFLOW_PYTHON_SCALARS_H_
#define ONEFLOW_PYTHON_SCALARS_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

// Converts an int to an INT or a UINT. Returns false, without an exception, for one beyond 64 bits.
bool find_integer(PyObject* integer, of_value* value);

enum class NumberMatch { kFound, kWrongType, kTooLarge };
// Converts a bool, an int, a float or a NumPy scalar to a value. Returns kWrongType for other objects and kTooLarge for
// integers beyond 64 bits.
NumberMatch find_number(PyObject* object, of_value* value);

// Returns whether an object is a NumPy scalar. Does not import NumPy.
bool is_numpy_scalar(PyObject* object);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_SCALARS_H_
