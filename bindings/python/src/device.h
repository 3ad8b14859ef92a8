// Devices as Python objects.
#ifndef ONEFLOW_PYTHON_DEVICE_H_
#define ONEFLOW_PYTHON_DEVICE_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

struct DeviceObject {
  PyObject_HEAD of_device value;
};

extern PyTypeObject* device_type;

inline bool is_device(PyObject* object) { return Py_TYPE(object) == device_type; }
inline of_device device_of(PyObject* device) { return reinterpret_cast<DeviceObject*>(device)->value; }
inline bool is_same_device(of_device a, of_device b) { return a.type == b.type && a.index == b.index; }

PyObject* device_object(of_device device);

bool add_device_type(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_DEVICE_H_
