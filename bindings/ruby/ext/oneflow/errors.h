// The exception classes and the functions that raise them.
//
// Raising is a longjmp, which skips destructors. Therefore no object with a destructor may live in a frame that calls
// Ruby: such frames hold resources in plain structs, and release them or pass them to a Ruby object before they raise.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// Defines OneFlow::Error and one class per status.
void define_errors(VALUE module);

// Returns the exception class of a status; InternalError for an unknown status.
VALUE error_class(of_status status);

// Returns the exception of the status with a text of the runtime, which may name functions as the runtime does.
VALUE make_error(of_status status, const char* text);

// Raises the exception of the status with a formatted message; `format` is that of rb_sprintf.
[[noreturn]] void raise(of_status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Raises the exception of the status with the message of of_last_error().
[[noreturn]] void raise_last_error(of_status status);

// Raises the last error unless the status is OF_OK.
inline void check(of_status status) {
  if (status != OF_OK) raise_last_error(status);
}

}  // namespace oneflow::ruby
