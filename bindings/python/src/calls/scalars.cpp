#include "calls/scalars.h"

namespace oneflow::python {

bool is_numpy_scalar(PyObject* object) {
  static PyObject* scalar_type = nullptr;  // numpy.generic, once NumPy is loaded
  if (scalar_type == nullptr) {
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* numpy = modules != nullptr ? PyDict_GetItemString(modules, "numpy") : nullptr;
    if (numpy == nullptr) return false;
    scalar_type = PyObject_GetAttrString(numpy, "generic");
    if (scalar_type == nullptr || !PyType_Check(scalar_type)) {  // partly imported, or another module of this name
      PyErr_Clear();
      Py_CLEAR(scalar_type);
      return false;
    }
  }
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(scalar_type)) != 0;
}

bool find_integer(PyObject* integer, of_value* value) {
  int overflow = 0;
  value->kind = OF_VALUE_INT;
  value->as.integer = PyLong_AsLongLongAndOverflow(integer, &overflow);
  if (overflow == 0) return true;
  value->kind = OF_VALUE_UINT;
  value->as.natural = PyLong_AsUnsignedLongLong(integer);
  if (!PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

NumberMatch find_number(PyObject* object, of_value* value) {
  if (PyFloat_Check(object)) {
    value->kind = OF_VALUE_FLOAT;
    value->as.real = PyFloat_AS_DOUBLE(object);
    return NumberMatch::kFound;
  }
  if (PyBool_Check(object)) {
    value->kind = OF_VALUE_BOOL;
    value->as.boolean = object == Py_True;
    return NumberMatch::kFound;
  }
  if (PyLong_Check(object)) {
    return find_integer(object, value) ? NumberMatch::kFound : NumberMatch::kTooLarge;
  }
  if (is_numpy_scalar(object)) {
    Ref item(PyObject_CallMethod(object, "item", nullptr));
    if (item && !is_numpy_scalar(item.get())) return find_number(item.get(), value);
    PyErr_Clear();
  }
  return NumberMatch::kWrongType;
}

}  // namespace oneflow::python
