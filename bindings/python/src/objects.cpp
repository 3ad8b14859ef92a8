#include "objects.h"

namespace oneflow::python {

std::string type_name(PyObject* object) {
  if (object == Py_None) return "None";
  std::string name = Py_TYPE(object)->tp_name;
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

}  // namespace oneflow::python
