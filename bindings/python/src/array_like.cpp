#include "array_like.h"

#include <algorithm>

#include "arguments.h"
#include "creation.h"
#include "dlpack.h"
#include "nested.h"
#include "tensor.h"

namespace oneflow::python {
namespace {

// Returns the first tensor among objects, also within their lists and tuples; NULL if there is none.
PyObject* first_tensor(std::span<PyObject* const> objects, bool within_lists = true) {
  for (PyObject* object : objects) {
    if (object == nullptr) continue;
    if (is_tensor(object)) return object;
    if (!within_lists || (!PyList_Check(object) && !PyTuple_Check(object))) continue;
    if (PyObject* found = first_tensor(ItemsOf(object), false)) return found;
  }
  return nullptr;
}

}  // namespace

bool is_array_like(PyObject* object) {
  if (is_tensor(object) || PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) ||
      PyDict_Check(object) || PyType_Check(object) || object == Py_None) {
    return false;
  }
  return PyList_Check(object) || PyTuple_Check(object) || PyFloat_Check(object) || PyLong_Check(object) ||
         PyComplex_Check(object) || is_numpy_scalar(object) || PyObject_CheckBuffer(object) || is_sequence(object) ||
         has_dlpack(object) || PyObject_HasAttrString(object, "__array_interface__") != 0;
}

ArrayReader::ArrayReader(const char* function, std::span<PyObject* const> arguments) : function_(function) {
  PyObject* tensor = first_tensor(arguments);
  device_ = tensor != nullptr ? tensor_device(tensor) : of_default_device();
}

Ref ArrayReader::read(PyObject* array_like, const char* name) const {
  return Ref(create_tensor(array_like, {.function = function_, .name = name, .device = &device_}));
}

}  // namespace oneflow::python
