#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

// Never released: the interpreter may be gone before static objects are.
PyObject* error_factory = nullptr;

}  // namespace

void set_error_factory(py::object factory) { error_factory = factory.release().ptr(); }

void raise(cn_status status, const std::string& text) {
  const std::string known = text;  // `text` may be that of the last error, which calls from here can change
  const py::object error = py::handle(error_factory)(static_cast<int>(status), known);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace commnet_python
