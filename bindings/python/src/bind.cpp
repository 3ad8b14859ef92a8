#include "bind.h"

namespace oneflow::python {

nb::module_ package_scope() {
  static PyObject* scope = take(PyModule_New("oneflow_py")).release().ptr();
  return nb::borrow<nb::module_>(scope);
}

PyTypeObject* seal_class(nb::handle type, const char* full_name, const PyType_Slot* slots, PyObject* module) {
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  nb::delattr(type, "__init__");  // nanobind's, which refuses all objects
  while (slots->slot != 0 && slots->slot != Py_tp_new) ++slots;
  if (slots->slot == 0) {
    nb::delattr(type, "__new__");
    object->tp_new = nullptr;
    object->tp_vectorcall = nullptr;
    object->tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  }
  object->tp_name = full_name;
  object->tp_flags = (object->tp_flags & ~Py_TPFLAGS_BASETYPE) | Py_TPFLAGS_IMMUTABLETYPE;
  if (PyModule_AddType(module, object) != 0) throw nb::python_error();
  return object;
}

}  // namespace oneflow::python
