#include "bind.h"

namespace oneflow::python {

nb::module_ package_scope() {
  static PyObject* scope = take(PyModule_New("oneflow_py")).release().ptr();
  return nb::borrow<nb::module_>(scope);
}

PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) {
  const nb::handle object(reinterpret_cast<PyObject*>(type));
  return PyErr_Format(PyExc_TypeError, "cannot create '%U.%U' instances", object.attr("__module__").ptr(),
                      object.attr("__name__").ptr());
}

nb::object path_bytes(const char* function, nb::handle path) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) != 0) return take(bytes);
  const nb::python_error error;
  if (error.matches(PyExc_ValueError) && !error.matches(PyExc_UnicodeError))
    fail(OF_INVALID_ARGUMENT, std::string(function) + ": path must not have a null byte");
  if (!error.matches(PyExc_TypeError)) throw error;
  fail(OF_TYPE_MISMATCH, std::string(function) + ": path must be str or path, got " + type_name(path.ptr()));
}

PyTypeObject* seal_class(nb::handle type, PyObject* module) {
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  nb::delattr(type, "__init__");  // nanobind's, which refuses all objects
#ifndef Py_LIMITED_API
  object->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;  // the stable ABI has no way to set it for a class of nanobind
#endif
  if (PyModule_AddType(module, object) != 0) throw nb::python_error();
  return object;
}

}  // namespace oneflow::python
