// Errors: a status and its text become an instance of a class in commnet/errors.py.
#ifndef COMMNET_PYTHON_ERRORS_H_
#define COMMNET_PYTHON_ERRORS_H_

#include <commnet/commnet.h>
#include <pybind11/pybind11.h>

#include <string>

namespace commnet_python {

// Sets the function that makes an exception of a status and a text.
void set_error_factory(pybind11::object factory);
[[noreturn]] void raise(cn_status status, const std::string& text);
// Raises the error of a call that has failed on this thread.
inline void check(cn_status status) {
  if (status != CN_OK) raise(status, cn_error());
}

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_ERRORS_H_
