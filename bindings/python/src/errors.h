// The exception classes, one per status, and raising them.
#ifndef ONEFLOW_PYTHON_ERRORS_H_
#define ONEFLOW_PYTHON_ERRORS_H_

#include <oneflow/oneflow.h>

#include <string>
#include <string_view>

#include "objects.h"

namespace oneflow::python {

// Creates oneflow_py.Error and its subclasses and adds them to the module.
bool add_errors(PyObject* module);

// Raises the exception of a failed call, with of_last_error(). Returns NULL, for `return raise(status)`.
PyObject* raise(of_status status);
PyObject* raise(of_status status, std::string_view text);

// The words of the exception that is set, which is cleared.
std::string take_error_text();

// Whether the call worked; raises otherwise.
inline bool check(of_status status) {
  if (status == OF_OK) [[likely]]
    return true;
  raise(status);
  return false;
}

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_ERRORS_H_
