#include "objects.h"

#include <unistd.h>

#include <cstring>

namespace oneflow::python {

namespace {

// Returns the module prefix, such as "torch.", of a class that is defined in Python: its tp_name lacks the module.
// Returns "" for other classes.
std::string module_prefix(PyTypeObject* type) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || std::strchr(type->tp_name, '.') != nullptr) return "";
  Ref module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  const char* name = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
  if (name == nullptr) PyErr_Clear();
  const std::string text = name != nullptr ? name : "builtins";
  return text == "builtins" || text == "__main__" ? "" : text + ".";
}

}  // namespace

void sleep_until_exit() {
  for (;;) pause();
}

void UnlockedScope::acquire(PyThreadState* state) {
  call_python([=] { PyEval_RestoreThread(state); });
}

std::string type_name(PyObject* object) {
  if (object == Py_None) return "None";
  const std::string name = module_prefix(Py_TYPE(object)) + Py_TYPE(object)->tp_name;
  const std::string own = "oneflow_py.";
  return name.starts_with(own) ? name.substr(own.size()) : name;
}

PyObject* tuple_of(const int64_t* values, Py_ssize_t count) {
  Ref result(PyTuple_New(count));
  if (!result) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyLong_FromLongLong(values[i]);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(result.get(), i, item);
  }
  return result.release();
}

PyObject* named_tuple(PyObject* module, const char* name, const char* fields) {
  Ref collections(PyImport_ImportModule("collections"));
  Ref type(collections ? PyObject_CallMethod(collections.get(), "namedtuple", "ss", name, fields) : nullptr);
  Ref package(PyUnicode_FromString("oneflow_py"));
  if (!type || !package || PyObject_SetAttrString(type.get(), "__module__", package.get()) != 0 ||
      PyModule_AddObjectRef(module, name, type.get()) != 0) {
    return nullptr;
  }
  return type.release();
}

}  // namespace oneflow::python
