// Devices as Python objects.
#ifndef ONEFLOW_PYTHON_DEVICE_H_
#define ONEFLOW_PYTHON_DEVICE_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

extern PyTypeObject* device_type;

inline bool is_device(PyObject* object) { return Py_TYPE(object) == device_type; }
of_device device_of(PyObject* device);
inline bool is_same_device(of_device a, of_device b) { return a.type == b.type && a.index == b.index; }

// Returns a new reference to the object of a device: there is one per device.
PyObject* device_object(of_device device);

bool add_device_type(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_DEVICE_H_
