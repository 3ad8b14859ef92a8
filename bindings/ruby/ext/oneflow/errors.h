// The exception classes, and the ways to raise them.
//
// Raising is a longjmp that skips destructors. No frame of this extension that calls Ruby therefore owns anything with
// a destructor: what a call holds lives in plain structs, and is released or handed to a Ruby object before a raise.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// Defines OneFlow::Error and one class per status.
void define_errors(VALUE module);

VALUE error_class(of_status status);

// Raises the class of the status with a text in the format of rb_sprintf.
[[noreturn]] void raise(of_status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Raises what of_last_error() says.
[[noreturn]] void raise_last_error(of_status status);

inline void check(of_status status) {
  if (status != OF_OK) raise_last_error(status);
}

}  // namespace oneflow::ruby
