// Generators of random numbers as Python objects.
#ifndef ONEFLOW_PYTHON_GENERATOR_H_
#define ONEFLOW_PYTHON_GENERATOR_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

extern PyTypeObject* generator_type;

inline bool is_generator(PyObject* object) { return Py_TYPE(object) == generator_type; }
of_generator generator_of(PyObject* generator);

// Adds the class, and the object of the process's generator.
bool add_generator_type(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_GENERATOR_H_
