// The functions of libraries of operators: callable objects over the tables that a library has for Python.
#ifndef ONEFLOW_PYTHON_LIBRARY_FUNCTION_H_
#define ONEFLOW_PYTHON_LIBRARY_FUNCTION_H_

#include <oneflow/operator_library.h>

#include "objects.h"

namespace oneflow::python {

// Creates the type of the functions.
bool add_library_function_type(PyObject* module);

// Returns a new function of a library, whose module is oneflow_py.ops.<namespace>, or its in-place form; empty with an
// exception on failure.
Ref make_library_function(PyObject* module, const of_library_function& record, of_manner manner);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_LIBRARY_FUNCTION_H_
