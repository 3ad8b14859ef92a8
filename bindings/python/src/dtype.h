// Element types as Python objects: one object per type, equal to its own name.
#ifndef ONEFLOW_PYTHON_DTYPE_H_
#define ONEFLOW_PYTHON_DTYPE_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

struct DtypeObject {
  PyObject_HEAD of_dtype value;
};

extern PyTypeObject* dtype_type;

inline bool is_dtype(PyObject* object) { return Py_TYPE(object) == dtype_type; }

// A new reference to the object of an element type.
PyObject* dtype_object(of_dtype dtype);

bool is_floating_point(of_dtype dtype);
bool is_complex(of_dtype dtype);
bool is_integral(of_dtype dtype);  // without bool

// The element type that an object means: a dtype, its name, or Python's float, int or bool. kOther raises nothing;
// kUnknown is a text that names no element type.
enum class DtypeMatch { kFound, kOther, kUnknown };
DtypeMatch find_dtype(PyObject* object, of_dtype* dtype);

bool add_dtypes(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_DTYPE_H_
