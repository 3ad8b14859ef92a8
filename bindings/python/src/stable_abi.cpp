#include "stable_abi.h"

#include <dlfcn.h>

#ifdef Py_LIMITED_API

PyObject* PyMethod_New(PyObject* function, PyObject* self) {
  static PyObject* type = nullptr;  // it lives as long as the process
  if (type == nullptr) {
    PyObject* types = PyImport_ImportModule("types");
    if (types == nullptr) return nullptr;
    type = PyObject_GetAttrString(types, "MethodType");
    Py_DECREF(types);
  }
  return type != nullptr ? PyObject_CallFunctionObjArgs(type, function, self, nullptr) : nullptr;
}

#endif

namespace oneflow::python {

#ifdef Py_LIMITED_API

namespace {

// Returns whether a function that takes nothing says yes. Every CPython exports those below, but its stable ABI does
// not promise them.
bool ask(const char* name, const char* name_before) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, name_before);
  return found != nullptr && reinterpret_cast<int (*)()>(found)() != 0;
}

}  // namespace

bool holds_gil() { return ask("PyGILState_Check", "PyGILState_Check"); }
bool is_finalizing() { return ask("Py_IsFinalizing", "_Py_IsFinalizing"); }

#else

bool holds_gil() { return PyGILState_Check() != 0; }

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

#endif

}  // namespace oneflow::python
