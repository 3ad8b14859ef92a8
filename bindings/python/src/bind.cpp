#include "bind.h"

namespace oneflow::python {

PyObject* refuse_instantiation(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
  return nullptr;
}

nb::module_ package_scope() {
  static PyObject* scope = take(PyModule_New("oneflow_py")).release().ptr();
  return nb::borrow<nb::module_>(scope);
}

PyTypeObject* seal_class(nb::handle type, const char* full_name, PyObject* module) {
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  object->tp_name = full_name;
  object->tp_flags = (object->tp_flags & ~Py_TPFLAGS_BASETYPE) | Py_TPFLAGS_IMMUTABLETYPE;
  // nanobind's __init__ refuses objects that were not created by a constructor of nanobind.
  object->tp_init = [](PyObject*, PyObject*, PyObject*) { return 0; };
  PyType_Modified(object);
  if (PyModule_AddType(module, object) != 0) throw nb::python_error();
  return object;
}

}  // namespace oneflow::python
