#include "errors.h"

#include <ruby/encoding.h>

#include <cstdarg>

namespace oneflow::ruby {
namespace {

constexpr int kStatusCount = OF_FILE_ERROR + 1;

// The exception classes, indexed by status; index 0 (OF_OK) is unused.
VALUE classes[kStatusCount];

// Returns the standard Ruby class from which the class of a status inherits, so that code that rescues the standard
// class also catches it. All of these inherit from StandardError, which a bare `rescue` catches; this excludes
// NoMemoryError and NotImplementedError.
VALUE natural_superclass(of_status status) {
  switch (status) {
    case OF_INVALID_ARGUMENT:
    case OF_SHAPE_ERROR:
      return rb_eArgError;
    case OF_TYPE_MISMATCH:
    case OF_DTYPE_ERROR:
      return rb_eTypeError;
    case OF_INDEX_OUT_OF_RANGE:
      return rb_eIndexError;
    case OF_COMMUNICATION_ERROR:
    case OF_FILE_ERROR:
      return rb_eIOError;
    case OF_DEVICE_ERROR:
    case OF_INTERNAL_ERROR:
      return rb_eRuntimeError;
    default:
      return rb_eStandardError;
  }
}

[[noreturn]] void raise_text(of_status status, VALUE text) { rb_exc_raise(rb_exc_new_str(error_class(status), text)); }

}  // namespace

void define_errors(VALUE module) {
  VALUE error = rb_define_module_under(module, "Error");
  for (int i = 1; i < kStatusCount; ++i) {
    of_status status = static_cast<of_status>(i);
    classes[i] = rb_define_class_under(module, of_status_name(status), natural_superclass(status));
    rb_include_module(classes[i], error);
  }
}

VALUE error_class(of_status status) {
  return status > 0 && status < kStatusCount ? classes[status] : classes[OF_INTERNAL_ERROR];
}

void raise(of_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  VALUE text = rb_enc_vsprintf(rb_utf8_encoding(), format, arguments);
  va_end(arguments);
  raise_text(status, text);
}

void raise_last_error(of_status status) { raise_text(status, rb_utf8_str_new_cstr(of_last_error())); }

}  // namespace oneflow::ruby
