#include "errors.h"

#include <ruby/encoding.h>

#include <cstdarg>

namespace commnet::ruby {
namespace {

struct ErrorClass {
  const char* name;
  VALUE* superclass;  // the standard class of Ruby that code may rescue instead
};

// Indexed by status. All inherit from StandardError, which a bare `rescue` catches.
constexpr ErrorClass kClasses[] = {
    {nullptr, nullptr},
    {"InvalidArgument", &rb_eArgError},
    {"Denied", &rb_eStandardError},
    {"OutOfRange", &rb_eIndexError},
    {"Unreachable", &rb_eIOError},
    {"PeerLost", &rb_eIOError},
    {"TimedOut", &rb_eIOError},
    {"Cancelled", &rb_eStandardError},
    {"Full", &rb_eIOError},
    {"NoHandler", &rb_eStandardError},
    {"OutOfMemory", &rb_eStandardError},
    {"Closed", &rb_eIOError},
    {"Unsupported", &rb_eStandardError},
    {"SystemError", &rb_eIOError},
    {"InternalError", &rb_eRuntimeError},
};
constexpr int kStatusCount = CN_INTERNAL_ERROR + 1;
static_assert(sizeof kClasses / sizeof *kClasses == kStatusCount);

VALUE classes[kStatusCount];
VALUE wrong_type;

VALUE format_text(const char* format, va_list arguments) {
  return rb_enc_vsprintf(rb_utf8_encoding(), format, arguments);
}

}  // namespace

void define_errors(VALUE module) {
  const VALUE error = rb_define_module_under(module, "Error");
  for (int i = 1; i < kStatusCount; ++i) {
    classes[i] = rb_define_class_under(module, kClasses[i].name, *kClasses[i].superclass);
    rb_include_module(classes[i], error);
  }
  wrong_type = rb_define_class_under(module, "WrongType", rb_eTypeError);
  rb_include_module(wrong_type, error);
}

VALUE exception_of(cn_status status, VALUE text) {
  const bool is_known = status > 0 && status < kStatusCount;
  return rb_exc_new_str(classes[is_known ? status : CN_INTERNAL_ERROR], text);
}

void raise(cn_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const VALUE text = format_text(format, arguments);
  va_end(arguments);
  rb_exc_raise(exception_of(status, text));
}

void raise_type(const char* name, const char* expected, VALUE value) {
  const VALUE text = rb_enc_sprintf(rb_utf8_encoding(), "%s must be %s, got %" PRIsVALUE, name, expected,
                                    rb_class_name(rb_obj_class(value)));
  rb_exc_raise(rb_exc_new_str(wrong_type, text));
}

void raise_last_error(cn_status status) { rb_exc_raise(exception_of(status, rb_utf8_str_new_cstr(cn_error()))); }

}  // namespace commnet::ruby
