// The exception classes and the functions that raise them.
//
// Raising is a longjmp, which skips destructors. Therefore no object with a destructor may live in a frame that calls
// Ruby: such frames hold resources in plain structs, and release them or pass them to a Ruby object before they raise.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

namespace commnet::ruby {

// Defines the module Commnet::Error, which all classes include, and one class per status.
void define_errors(VALUE module);

// Returns an exception of the class of a status; InternalError for an unknown status.
VALUE exception_of(cn_status status, VALUE text);

// Raises the exception of the status with a formatted message; `format` is that of rb_sprintf.
[[noreturn]] void raise(cn_status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Raises WrongType: "name must be `expected`, got the class of `value`".
[[noreturn]] void raise_type(const char* name, const char* expected, VALUE value);

// Raises the exception of the status with the message of cn_error().
[[noreturn]] void raise_last_error(cn_status status);

// Raises the last error unless the status is CN_OK.
inline void check(cn_status status) {
  if (status != CN_OK) raise_last_error(status);
}

}  // namespace commnet::ruby
