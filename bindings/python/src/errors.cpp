#include "errors.h"

#include <algorithm>
#include <array>

namespace oneflow::python {
namespace {

struct ErrorRecord {
  of_status status;
  PyObject** natural_base;  // the class that Python raises for this kind of error
  const char* documentation;
};

const ErrorRecord kErrors[] = {
    {OF_INVALID_ARGUMENT, &PyExc_ValueError, "An argument has an invalid value."},
    {OF_TYPE_MISMATCH, &PyExc_TypeError, "An argument has the wrong type, is missing, or is unknown."},
    {OF_SHAPE_ERROR, &PyExc_ValueError, "Shapes do not fit each other or the operator."},
    {OF_DTYPE_ERROR, &PyExc_TypeError, "The operator does not support the dtype of an operand."},
    {OF_INDEX_OUT_OF_RANGE, &PyExc_IndexError, "A dimension or an element index does not exist."},
    {OF_DEVICE_ERROR, &PyExc_RuntimeError,
     "A device does not exist, is not that of the other operands, or has failed."},
    {OF_OUT_OF_MEMORY, &PyExc_MemoryError, "The device has no memory left for a result."},
    {OF_UNSUPPORTED, &PyExc_NotImplementedError, "A valid request is not implemented."},
    {OF_COMMUNICATION_ERROR, &PyExc_RuntimeError, "Processes could not exchange data."},
    {OF_INTERNAL_ERROR, &PyExc_RuntimeError, "oneflow has a bug."},
    {OF_FILE_ERROR, &PyExc_OSError, "The system cannot read or write a file."},
};

constexpr size_t kStatusCount = 12;
std::array<PyObject*, kStatusCount> classes;  // by status; they live as long as the process

bool add_error(PyObject* module, const ErrorRecord& record, PyObject* base) {
  const char* name = of_status_name(record.status);
  Ref bases(PyTuple_Pack(2, base, *record.natural_base));
  if (!bases) return false;
  PyObject* error = PyErr_NewExceptionWithDoc((std::string("oneflow_py.") + name).c_str(), record.documentation,
                                              bases.get(), nullptr);
  classes[record.status] = error;
  return error != nullptr && PyModule_AddObjectRef(module, name, error) == 0;
}

}  // namespace

bool add_errors(PyObject* module) {
  Ref base(PyErr_NewExceptionWithDoc("oneflow_py.Error", "The base class of all errors that oneflow raises.",
                                     PyExc_Exception, nullptr));
  if (!base || PyModule_AddObjectRef(module, "Error", base.get()) != 0) return false;
  classes[OF_OK] = base.get();  // the class of statuses without a row in kErrors
  for (const ErrorRecord& record : kErrors) {
    if (!add_error(module, record, base.get())) return false;
  }
  base.release();
  return true;
}

// The exception of a Python function that the library has called on this thread, until the call that it ends returns.
static thread_local PyObject* kept = nullptr;

of_status keep_exception() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  Py_XDECREF(std::exchange(kept, value));
  return OF_INTERRUPTED;
}

PyObject* raise(of_status status) {
  if (status != OF_INTERRUPTED || kept == nullptr) return raise(status, of_last_error());
  const Ref exception(std::exchange(kept, nullptr));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
  return nullptr;
}

PyObject* raise(of_status status, std::string_view text) {
  Ref message(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  const size_t index = static_cast<size_t>(status) < kStatusCount ? static_cast<size_t>(status) : 0;
  if (message) PyErr_SetObject(classes[index], message.get());
  return nullptr;
}

std::string take_error_text() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  Ref owned_type(type), owned_value(value), owned_traceback(traceback);
  Ref text(value != nullptr ? PyObject_Str(value) : nullptr);
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  const std::string result = words != nullptr ? words : "no reason given";
  PyErr_Clear();  // of a failing __str__
  return result;
}

of_status take_failure() {
  PyObject* type = PyErr_Occurred();
  const auto found = std::find(classes.begin(), classes.end(), type);
  const bool is_memory_error = type != nullptr && PyErr_GivenExceptionMatches(type, PyExc_MemoryError) != 0;
  const of_status otherwise = is_memory_error ? OF_OUT_OF_MEMORY : OF_INTERNAL_ERROR;
  const of_status status = found != classes.end() ? static_cast<of_status>(found - classes.begin()) : otherwise;
  return of_fail(status == OF_OK ? OF_INTERNAL_ERROR : status, take_error_text().c_str());
}

}  // namespace oneflow::python
