#include "convert.h"

#include <ruby/encoding.h>

#include <cstring>

#include "classes.h"
#include "errors.h"
#include "native_data.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

// Returns whether the bytes of a String are treated as UTF-8: also those of US-ASCII and binary Strings, whose encoding
// does not specify the characters beyond ASCII.
bool is_utf8(VALUE text) {
  const int encoding = RB_ENCODING_GET(text);
  return encoding == rb_utf8_encindex() || encoding == rb_usascii_encindex() || encoding == rb_ascii8bit_encindex();
}

// Returns a string as error texts show it: unchanged, or with the escapes of a literal if it has invalid characters or
// null bytes, which rb_sprintf refuses.
VALUE printable(VALUE text) {
  const VALUE characters = rb_utf8_str_new(RSTRING_PTR(text), RSTRING_LEN(text));
  if (rb_enc_str_coderange(characters) != ENC_CODERANGE_BROKEN && !has_null_byte(text)) return characters;
  const VALUE literal = rb_str_inspect(characters);
  return rb_str_substr(literal, 1, NUM2LONG(rb_str_length(literal)) - 2);
}

// Converts a String, a Symbol, or an object with `to_str` such as a Device to a String in UTF-8. Returns nil for other
// values. Raises InvalidArgument if the string cannot be converted to UTF-8.
VALUE string_of(const char* function, const char* argument, VALUE value) {
  const VALUE text = RB_TYPE_P(value, T_STRING) ? value
                     : RB_SYMBOL_P(value)       ? rb_sym2str(value)
                                                : rb_check_string_type(value);
  if (NIL_P(text) || is_utf8(text)) return text;
  const VALUE converted = rb_str_conv_enc(text, nullptr, rb_utf8_encoding());
  if (is_utf8(converted)) return converted;
  raise(OF_INVALID_ARGUMENT, "%s: %s must be convertible to UTF-8, got '%" PRIsVALUE "' in %s", function, argument,
        printable(text), rb_enc_name(rb_enc_get(text)));
}

// Returns string_of(value) as a frozen copy, which other threads cannot change while the call runs; nil for other
// values.
VALUE frozen_string(const char* function, const char* argument, VALUE value) {
  const VALUE text = string_of(function, argument, value);
  return NIL_P(text) ? Qnil : rb_str_new_frozen(text);
}

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

// Returns whether the value is a real number: Rational and BigDecimal are, Complex is not.
bool is_real(VALUE value) {
  if (RB_FLOAT_TYPE_P(value) || RB_INTEGER_TYPE_P(value)) return true;
  return RTEST(rb_obj_is_kind_of(value, rb_cNumeric)) && RTEST(rb_funcall(value, rb_intern("real?"), 0));
}

bool convert_float(VALUE value, double* result) {
  if (!is_real(value)) return false;
  *result = NUM2DBL(value);
  return true;
}

[[noreturn]] void raise_too_large(const char* function, const char* argument) {
  raise(OF_INVALID_ARGUMENT, "%s: %s must fit into 64 bits, got a larger integer", function, argument);
}

}  // namespace

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

// Converts a tensor argument (item -1) or an item of a list of tensors; a nil item becomes NULL where it is allowed.
bool Converter::convert_tensor(const Argument& argument, VALUE value, of_tensor* result, long item) {
  *result = nullptr;
  if (!is_tensor(value)) {
    if (item >= 0 && argument.allows_nil_items && NIL_P(value)) return true;
    value = tensor_of(argument, value);
    if (NIL_P(value)) return false;
  }
  *result = handle_of_argument(function_, argument.name, value, item);
  return true;
}

// Makes a tensor of nested Arrays or a number, and keeps it; returns nil for other values and if none may stand here.
VALUE Converter::tensor_of(const Argument& argument, VALUE value) {
  const bool is_array_like =
      RB_TYPE_P(value, T_ARRAY) || value == Qtrue || value == Qfalse || RTEST(rb_obj_is_kind_of(value, rb_cNumeric));
  if (!reads_arrays_ || argument.is_written || !is_array_like) return Qnil;
  VALUE name = rb_sprintf("%s: %s", function_, argument.name);
  const VALUE tensor = tensor_from_array(StringValueCStr(name), value, OF_DTYPE_NONE, device_);
  if (NIL_P(made_)) made_ = rb_ary_new();
  rb_ary_push(made_, tensor);
  RB_GC_GUARD(name);
  return tensor;
}

// Returns the number that a tensor without dimensions stands for; other values themselves.
VALUE Converter::number_in(VALUE value) const {
  if (!reads_arrays_ || !is_tensor(value) || !peek(value) || of_tensor_rank(peek(value)) != 0) return value;
  return rb_funcall(value, rb_intern("item"), 0);
}

// The class is checked because rb_arithmetic_sequence_extract() accepts any object with `begin` and `end`, such as an
// OpenStruct. An arithmetic sequence is an Enumerator.
bool range_of(VALUE value, rb_arithmetic_sequence_components_t* range) {
  const bool may_be = RTEST(rb_obj_is_kind_of(value, rb_cRange)) || RTEST(rb_obj_is_kind_of(value, rb_cEnumerator));
  return may_be && rb_arithmetic_sequence_extract(value, range);
}

bool Converter::convert_number(const Argument& argument, VALUE value, of_value* result) {
  bool in_range;
  if (!number_of(value, result, &in_range)) return false;
  if (!in_range) raise_too_large(function_, argument.name);
  return true;
}

bool Converter::convert_integer(const Argument& argument, VALUE value, int64_t* result) {
  if (!RB_INTEGER_TYPE_P(value)) return false;
  if (!integer_in_range(value, result)) raise_too_large(function_, argument.name);
  return true;
}

// Looks up a dtype or a device by its name; returns false for other values and unknown names.
template <typename T>
bool Converter::convert_name(const Argument& argument, VALUE value, of_status (*parse)(const char*, T*), T* result) {
  VALUE text = frozen_string(function_, argument.name, value);
  const bool found = !NIL_P(text) && !has_null_byte(text) && parse(StringValueCStr(text), result) == OF_OK;
  RB_GC_GUARD(text);
  return found;
}

// Converts a string to a copy, which other threads cannot change while the call reads it: a short one is copied to the
// stack, a long one to a frozen String.
bool Converter::convert_string(const Argument& argument, VALUE value, of_value* result) {
  VALUE text = string_of(function_, argument.name, value);
  if (NIL_P(text)) return false;
  const size_t length = RSTRING_LEN(text), words = (length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  if (length > INT32_MAX) raise(OF_INVALID_ARGUMENT, "%s: %s is too long", function_, argument.name);
  result->kind = OF_VALUE_STRING;
  result->count = static_cast<int32_t>(length);
  if (words <= kWords - words_used_) {
    result->as.string = static_cast<char*>(memcpy(allocate(words), RSTRING_PTR(text), length));
  } else {
    text = keep(rb_str_new_frozen(text));
    result->as.string = RSTRING_PTR(text);
  }
  RB_GC_GUARD(text);
  return true;
}

bool Converter::convert_one(const Argument& argument, VALUE value, of_value* result) {
  if (argument.type >= ArgumentType::kNumber && argument.type <= ArgumentType::kFalse) value = number_in(value);
  switch (argument.type) {
    case ArgumentType::kOperand:
      if (!is_tensor(value) && convert_number(argument, value, result)) return true;
      [[fallthrough]];
    case ArgumentType::kTensor:
      result->kind = OF_VALUE_TENSOR;
      return convert_tensor(argument, value, &result->as.tensor);
    case ArgumentType::kNumber:
      return convert_number(argument, value, result);
    case ArgumentType::kInt:
      result->kind = OF_VALUE_INT;
      return convert_integer(argument, value, &result->as.integer);
    case ArgumentType::kFloat:
      result->kind = OF_VALUE_FLOAT;
      return convert_float(value, &result->as.real);
    case ArgumentType::kBool:
      result->kind = OF_VALUE_BOOL;
      result->as.boolean = value == Qtrue;
      return value == Qtrue || value == Qfalse;
    case ArgumentType::kTrue:
    case ArgumentType::kFalse:
      result->kind = OF_VALUE_BOOL;
      result->as.boolean = value == Qtrue;
      return value == (argument.type == ArgumentType::kTrue ? Qtrue : Qfalse);
    case ArgumentType::kString:
      return convert_string(argument, value, result);
    case ArgumentType::kDType:
      result->kind = OF_VALUE_DTYPE;
      return convert_name(argument, value, of_dtype_parse, &result->as.dtype);
    case ArgumentType::kDevice:
      result->kind = OF_VALUE_DEVICE;
      return convert_name(argument, value, of_device_parse, &result->as.device);
    case ArgumentType::kGenerator:
      result->kind = OF_VALUE_GENERATOR;
      result->as.generator = static_cast<of_generator>(handle_of_class(value, "Generator"));
      if (!result->as.generator) return false;
      return true;
    case ArgumentType::kInts:  // only in lists
      return false;
    case ArgumentType::kObject:
      result->kind = OF_VALUE_NONE;
      return true;
  }
  return false;
}

bool Converter::convert_items(const Argument& argument, const VALUE* items, long count, of_value* result) {
  if (count > INT32_MAX) raise(OF_INVALID_ARGUMENT, "%s: %s has too many items", function_, argument.name);
  result->count = static_cast<int32_t>(count);
  if (argument.type == ArgumentType::kTensor) {
    of_tensor* tensors = static_cast<of_tensor*>(allocate(count));
    for (long i = 0; i < count; ++i) {
      if (!convert_tensor(argument, items[i], &tensors[i], i)) return wrong(items[i], i);
    }
    result->kind = OF_VALUE_TENSOR_LIST;
    result->as.tensors = tensors;
    return true;
  }
  if (argument.type == ArgumentType::kDevice) {
    of_device* devices = static_cast<of_device*>(allocate(count));
    for (long i = 0; i < count; ++i) {
      if (!convert_name(argument, items[i], of_device_parse, &devices[i])) return wrong(items[i], i);
    }
    result->kind = OF_VALUE_DEVICE_LIST;
    result->as.devices = devices;
    return true;
  }
  int64_t* integers = static_cast<int64_t*>(allocate(count));
  for (long i = 0; i < count; ++i) {
    if (!convert_integer(argument, number_in(items[i]), &integers[i])) return wrong(items[i], i);
  }
  result->kind = OF_VALUE_INT_LIST;
  result->as.integers = integers;
  return true;
}

bool Converter::convert(const Argument& argument, VALUE value, of_value* result) {
  if (NIL_P(value)) {
    result->kind = OF_VALUE_NONE;
    return argument.allows_nil || wrong(value, -1);
  }
  if (!argument.is_list()) return convert_one(argument, value, result) || wrong(value, -1);
  if (reads_arrays_ && argument.type == ArgumentType::kInt && is_tensor(value) && peek(value) &&
      of_tensor_rank(peek(value)) == 1)
    value = keep(rb_funcall(value, rb_intern("to_a"), 0));
  if (argument.is_nested) return convert_nested(argument, value, result);
  if (!RB_TYPE_P(value, T_ARRAY)) {
    // A single item stands for a list of one, but only Arrays hold numbers in place of tensors.
    if (argument.type == ArgumentType::kTensor && !is_tensor(value)) return wrong(value, -1);
    return convert_items(argument, &value, 1, result) || wrong(value, -1);
  }
  // The copy keeps the items alive, and other threads cannot change it while the call reads it.
  const long count = RARRAY_LEN(value);
  VALUE* items = static_cast<VALUE*>(allocate(count));
  memcpy(items, RARRAY_CONST_PTR(value), count * sizeof(VALUE));
  return convert_items(argument, items, count, result);
}

// Converts a list of pairs or lists of integers to one list, in which the length of a list precedes it.
bool Converter::convert_nested(const Argument& argument, VALUE lists, of_value* result) {
  if (!RB_TYPE_P(lists, T_ARRAY)) return wrong(lists, -1);
  VALUE items = keep(rb_ary_new());
  VALUE owners = keep(rb_ary_new());  // of each item, the index of its list
  for (long i = 0; i < RARRAY_LEN(lists); ++i) {
    VALUE list = RARRAY_AREF(lists, i);
    const bool is_list = RB_TYPE_P(list, T_ARRAY);
    if (argument.type == ArgumentType::kInts) {
      if (!is_list && !RB_INTEGER_TYPE_P(list)) return wrong(list, i);
      if (!is_list) list = rb_ary_new_from_args(1, list);
      rb_ary_push(items, LONG2NUM(RARRAY_LEN(list)));
    } else if (!is_list || RARRAY_LEN(list) != 2) {
      return wrong(list, i);
    }
    rb_ary_concat(items, list);
    while (RARRAY_LEN(owners) < RARRAY_LEN(items)) rb_ary_push(owners, LONG2NUM(i));
  }
  if (convert_items(argument, RARRAY_CONST_PTR(items), RARRAY_LEN(items), result)) return true;
  return wrong(wrong_value_, wrong_item_ < 0 ? -1 : NUM2LONG(RARRAY_AREF(owners, wrong_item_)));
}

bool Converter::wrong(VALUE value, long item) {
  wrong_value_ = value;
  wrong_item_ = static_cast<int>(item);
  return false;
}

void* Converter::allocate(size_t words) {
  if (words <= kWords - words_used_) {
    void* memory = words_ + words_used_;
    words_used_ += words;
    return memory;
  }
  // The garbage collector owns this memory, so that it does not leak when a conversion raises.
  return rb_alloc_tmp_buffer_with_count(&objects_[objects_used_++], words * sizeof(uint64_t), words);
}

const char* name_of(const char* function, const char* argument, const char* expected, VALUE* name) {
  VALUE text = frozen_string(function, argument, *name);
  if (NIL_P(text)) {
    raise(OF_TYPE_MISMATCH, "%s: %s must be %s, got %" PRIsVALUE, function, argument, expected,
          type_description(*name));
  }
  *name = text;
  if (has_null_byte(*name)) raise(OF_INVALID_ARGUMENT, "%s: %s must not have a null byte", function, argument);
  return StringValueCStr(*name);
}

of_dtype dtype_of(const char* function, const char* argument, VALUE name) {
  const char* characters = name_of(function, argument, "dtype", &name);
  of_dtype dtype;
  if (of_dtype_parse(characters, &dtype) != OF_OK) {
    raise(OF_INVALID_ARGUMENT, "%s: %s must be the name of a dtype, got '%" PRIsVALUE "'", function, argument,
          printable(name));
  }
  return dtype;
}

of_device device_of(const char* function, const char* argument, VALUE name) {
  const char* characters = name_of(function, argument, "device", &name);
  of_device device;
  if (of_device_parse(characters, &device) != OF_OK) raise(OF_DEVICE_ERROR, "%s: %s", function, of_last_error());
  return device;
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
