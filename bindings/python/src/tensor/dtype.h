// Dtypes as Python objects: there is one object per dtype, which compares equal to its name.
#ifndef ONEFLOW_PYTHON_DTYPE_H_
#define ONEFLOW_PYTHON_DTYPE_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

extern PyTypeObject* dtype_type;

inline bool is_dtype(PyObject* object) { return Py_TYPE(object) == dtype_type; }

// Returns a new reference to the object of a dtype.
PyObject* dtype_object(of_dtype dtype);

bool is_floating_point(of_dtype dtype);
bool is_complex(of_dtype dtype);
bool is_integral(of_dtype dtype);  // false for bool

enum class DtypeMatch { kFound, kOther, kUnknown };
// Finds the dtype that an object denotes: a dtype, the name of one, or Python's float, complex, int or bool. Returns
// kUnknown for a string that is not the name of a dtype and kOther for other objects, without an exception.
DtypeMatch find_dtype(PyObject* object, of_dtype* dtype);

bool add_dtypes(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_DTYPE_H_
