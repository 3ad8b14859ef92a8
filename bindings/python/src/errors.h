// The exception classes, one per status code, and functions that raise them.
#ifndef ONEFLOW_PYTHON_ERRORS_H_
#define ONEFLOW_PYTHON_ERRORS_H_

#include <oneflow/oneflow.h>

#include <string>
#include <string_view>

#include "objects.h"

namespace oneflow::python {

// Creates oneflow_py.Error and its subclasses and adds them to the module.
bool add_errors(PyObject* module);

// Raises the exception class of a status, with of_last_error() or `text` as its message. Returns NULL, so that a
// function can `return raise(status)`.
PyObject* raise(of_status status);
PyObject* raise(of_status status, std::string_view text);

// Keeps the current exception of a function that the library has called, until raise() raises it, and returns the
// status of the call that it ends.
of_status keep_exception();

// Clears the current exception and returns its message.
std::string take_error_text();
// Clears the current exception and makes it the calling thread's failure in the C API. Returns its status.
of_status take_failure();

// Returns whether a call succeeded; raises the exception of its status otherwise, unless the handler of a signal that
// interrupted the call has raised one.
inline bool check(of_status status) {
  if (status == OF_OK) [[likely]]
    return true;
  if (status != OF_INTERRUPTED || PyErr_Occurred() == nullptr) raise(status);
  return false;
}

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_ERRORS_H_
