#include "tensor/convert.h"

#include <ruby/encoding.h>

#include <cstring>

#include "calls/types.h"
#include "classes/classes.h"
#include "classes/language.h"
#include "errors.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

// Converts an Integer to int64 and returns whether it fits.
bool integer_in_range(VALUE value, int64_t* result) {
  if (RB_FIXNUM_P(value)) {
    *result = RB_FIX2LONG(value);
    return true;
  }
  int sign = rb_integer_pack(value, result, 1, sizeof(int64_t), 0, INTEGER_PACK_NATIVE_BYTE_ORDER | INTEGER_PACK_2COMP);
  // A result of +-2 means more than 64 bits. A result of +-1 that contradicts the sign of the packed integer means that
  // the magnitude takes all 64 bits.
  return sign == (*result < 0 ? -1 : 1);
}

bool convert_float(VALUE value, double* result) {
  if (!is_real(value)) return false;
  *result = NUM2DBL(value);
  return true;
}

// Converts a value with the shared binder. `*owner` becomes the owner of a text.
of_data convert(const char* function, const char* argument, const of_type& type, VALUE value, VALUE* owner) {
  CallContext context = new_context();
  of_data data = {};
  const of_status status =
      of_convert(function, argument, &type, &ruby_language, &context, reinterpret_cast<of_native>(value), &data);
  RB_GC_GUARD(context.entries);
  *owner = context.kept;
  if (context.raised) rb_jump_tag(context.raised);
  if (status != OF_OK) raise(status, "%s", of_last_error());
  return data;
}

}  // namespace

bool is_utf8(VALUE text) {
  const int encoding = RB_ENCODING_GET(text);
  return encoding == rb_utf8_encindex() || encoding == rb_usascii_encindex() || encoding == rb_ascii8bit_encindex();
}

VALUE printable(VALUE text) {
  const VALUE characters = rb_utf8_str_new(RSTRING_PTR(text), RSTRING_LEN(text));
  if (rb_enc_str_coderange(characters) != ENC_CODERANGE_BROKEN && !has_null_byte(text)) return characters;
  const VALUE literal = rb_str_inspect(characters);
  return rb_str_substr(literal, 1, NUM2LONG(rb_str_length(literal)) - 2);
}

bool is_real(VALUE value) {
  if (RB_FLOAT_TYPE_P(value) || RB_INTEGER_TYPE_P(value)) return true;
  return RTEST(rb_obj_is_kind_of(value, rb_cNumeric)) && RTEST(rb_funcall(value, rb_intern("real?"), 0));
}

bool is_string_or_symbol(VALUE value) { return RB_TYPE_P(value, T_STRING) || RB_SYMBOL_P(value); }

bool has_null_byte(VALUE text) { return memchr(RSTRING_PTR(text), 0, RSTRING_LEN(text)) != nullptr; }

bool number_of(VALUE value, of_value* result, bool* in_range) {
  *in_range = true;
  if (RB_INTEGER_TYPE_P(value)) {
    result->kind = OF_VALUE_INT;
    *in_range = integer_in_range(value, &result->as.integer);
    if (*in_range) return true;
    result->kind = OF_VALUE_UINT;
    *in_range =
        rb_integer_pack(value, &result->as.natural, 1, sizeof(uint64_t), 0, INTEGER_PACK_NATIVE_BYTE_ORDER) == 1;
    return true;
  }
  if (value == Qtrue || value == Qfalse) {
    result->kind = OF_VALUE_BOOL;
    result->as.boolean = value == Qtrue;
    return true;
  }
  result->kind = OF_VALUE_FLOAT;
  return convert_float(value, &result->as.real);
}

bool int64_of(VALUE value, int64_t* result) { return RB_INTEGER_TYPE_P(value) && integer_in_range(value, result); }

// The class is checked because rb_arithmetic_sequence_extract() accepts any object with `begin` and `end`, such as an
// OpenStruct. An arithmetic sequence is an Enumerator.
bool range_of(VALUE value, rb_arithmetic_sequence_components_t* range) {
  const bool may_be = RTEST(rb_obj_is_kind_of(value, rb_cRange)) || RTEST(rb_obj_is_kind_of(value, rb_cEnumerator));
  return may_be && rb_arithmetic_sequence_extract(value, range);
}

const char* path_of(const char* function, VALUE* path) {
  if (!RB_TYPE_P(*path, T_STRING) && !rb_respond_to(*path, rb_intern("to_path"))) {
    raise(OF_TYPE_MISMATCH, "%s: path must be String or Pathname, got %" PRIsVALUE, function, type_description(*path));
  }
  if (RB_TYPE_P(*path, T_STRING) && has_null_byte(*path)) {
    raise(OF_INVALID_ARGUMENT, "%s: path must not have a null byte", function);
  }
  FilePathValue(*path);
  return StringValueCStr(*path);
}

const char* name_of(const char* function, const char* argument, VALUE* name) {
  return convert(function, argument, kStringType, *name, name).as.text;
}

of_dtype dtype_of(const char* function, const char* argument, VALUE name) {
  return convert(function, argument, kDTypeType, name, &name).as.dtype;
}

of_device device_of(const char* function, const char* argument, VALUE name) {
  return convert(function, argument, kDeviceType, name, &name).as.device;
}

VALUE dtype_symbol(of_dtype dtype) { return ID2SYM(rb_intern(of_dtype_name(dtype))); }

VALUE device_string(of_device device) {
  char name[64];
  return rb_utf8_str_new_cstr(of_device_name(device, name));
}

VALUE to_ruby(const of_scalar& scalar) {
  switch (scalar.kind) {
    case OF_SCALAR_BOOL:
      return scalar.as.integer ? Qtrue : Qfalse;
    case OF_SCALAR_INT:
      return LL2NUM(scalar.as.integer);
    case OF_SCALAR_UINT:
      return ULL2NUM(scalar.as.natural);
    case OF_SCALAR_FLOAT:
      return DBL2NUM(scalar.as.real);
  }
  return Qnil;
}

VALUE to_ruby(const int64_t* numbers, int64_t count) {
  VALUE list = rb_ary_new_capa(count);
  for (int64_t i = 0; i < count; ++i) rb_ary_push(list, LL2NUM(numbers[i]));
  return list;
}

VALUE type_description(VALUE value) {
  if (NIL_P(value)) return rb_utf8_str_new_cstr("nil");
  if (value == Qtrue || value == Qfalse) return rb_utf8_str_new_cstr("bool");
  if (is_tensor(value)) return rb_utf8_str_new_cstr("Tensor");
  if (is_object(value) && object_of(value).handle) return rb_utf8_str_new_cstr(object_of(value).object_class->name);
  return rb_class_name(rb_obj_class(value));
}

}  // namespace oneflow::ruby
