#include "language.h"

#include <ruby/encoding.h>

#include "classes.h"
#include "convert.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

VALUE value_of(of_native native) { return reinterpret_cast<VALUE>(native); }
of_native native_of(VALUE value) { return reinterpret_cast<of_native>(value); }

// Calls a function that may raise. Returns OF_INTERRUPTED if it does; the context then has the exception.
template <class Work>
of_status guarded(void* context, const Work& work) {
  const auto call = [](VALUE argument) -> VALUE {
    (*reinterpret_cast<const Work*>(argument))();
    return Qnil;
  };
  auto& own = *static_cast<CallContext*>(context);
  rb_protect(call, reinterpret_cast<VALUE>(&work), &own.raised);
  return own.raised == 0 ? OF_OK : OF_INTERRUPTED;
}

// Keeps an object alive until the call is bound.
VALUE keep(void* context, VALUE object) {
  rb_ary_push(static_cast<CallContext*>(context)->kept, object);
  return object;
}

// ---------------------------------------------------------------- arguments

void look_at_integer(VALUE integer, of_data* data) {
  of_value value;
  bool in_range = false;
  number_of(integer, &value, &in_range);
  data->kind = OF_DATA_INT;
  data->as.integer = value.as.integer;
  if (value.kind == OF_VALUE_UINT) data->kind = in_range ? OF_DATA_UINT : OF_DATA_LARGE;
}

void look_at_text(void* context, VALUE text, of_data* data) {
  const VALUE name = RB_SYMBOL_P(text) ? rb_sym2str(text) : text;
  const VALUE copy = keep(context, rb_str_new_frozen(rb_str_conv_enc(name, nullptr, rb_utf8_encoding())));
  data->kind = rb_enc_str_coderange(copy) == ENC_CODERANGE_BROKEN ? OF_DATA_BAD_TEXT : OF_DATA_TEXT;
  data->as.text = RSTRING_PTR(copy);
  data->count = static_cast<uint32_t>(RSTRING_LEN(copy));
}

of_status look(void* context, of_native native, of_data* data) {
  const VALUE value = value_of(native);
  data->kind = OF_DATA_OTHER;
  if (NIL_P(value)) {
    data->kind = OF_DATA_NONE;
  } else if (value == Qtrue || value == Qfalse) {
    data->kind = OF_DATA_BOOL;
    data->as.boolean = value == Qtrue;
  } else if (RB_INTEGER_TYPE_P(value)) {
    look_at_integer(value, data);
  } else if (RB_FLOAT_TYPE_P(value)) {
    data->kind = OF_DATA_FLOAT;
    data->as.real = RFLOAT_VALUE(value);
  } else if (is_string_or_symbol(value)) {
    return guarded(context, [=] { look_at_text(context, value, data); });
  } else if (RB_TYPE_P(value, T_ARRAY)) {
    data->kind = OF_DATA_LIST;
    data->count = static_cast<uint32_t>(RARRAY_LEN(value));
  } else if (RB_TYPE_P(value, T_HASH)) {
    data->kind = OF_DATA_MAP;
    data->count = static_cast<uint32_t>(RHASH_SIZE(value));
  } else if (is_tensor(value)) {
    data->kind = peek(value) ? OF_DATA_TENSOR : OF_DATA_OTHER;
    data->as.tensor = peek(value);
  } else if (is_object(value)) {
    const Object& object = object_of(value);
    data->kind = object.handle ? OF_DATA_OBJECT : OF_DATA_DISPOSED;
    data->as.object = object.handle;
    data->of.object = object.object_class;
  } else if (rb_obj_is_proc(value) == Qtrue) {
    data->kind = OF_DATA_FUNCTION;
  }
  return OF_OK;
}

of_status item(void*, of_native list, uint32_t position, of_native* item) {
  *item = native_of(rb_ary_entry(value_of(list), position));
  return OF_OK;
}

of_status entry(void* context, of_native map, uint32_t position, const char** key, of_native* item) {
  return guarded(context, [=] {
    const VALUE keys = keep(context, rb_funcall(value_of(map), rb_intern("keys"), 0));
    const VALUE name = rb_ary_entry(keys, position);
    *key = nullptr;
    of_data text = {};
    if (is_string_or_symbol(name)) {
      look_at_text(context, name, &text);
      *key = text.as.text;
    }
    *item = native_of(rb_hash_aref(value_of(map), name));
  });
}

const char* type_name(void* context, of_native native) {
  const char* name = "object";
  guarded(context, [&] {
    VALUE text = keep(context, type_description(value_of(native)));
    name = StringValueCStr(text);
  });
  return name;
}

// ---------------------------------------------------------------- results

VALUE list_to_ruby(const of_type& type, const of_data& data) {
  const bool is_record = type.kind == OF_TYPE_RECORD;
  const VALUE list = rb_ary_new_capa(data.count);
  for (uint32_t i = 0; i < data.count; ++i) rb_ary_push(list, to_ruby(type.items[is_record ? i : 0], data.as.items[i]));
  return list;
}

VALUE map_to_ruby(const of_type& type, const of_data& data) {
  const VALUE map = rb_hash_new();
  for (uint32_t i = 0; i < data.count; ++i)
    rb_hash_aset(map, rb_utf8_str_new_cstr(data.of.keys[i]), to_ruby(*type.items, data.as.items[i]));
  return map;
}

VALUE tensor_to_ruby(of_tensor tensor) {
  const VALUE object = new_tensor();
  fill_tensor(object, of_tensor_retain(tensor));
  return object;
}

}  // namespace

const of_language ruby_language = {
    .struct_size = sizeof(of_language),
    .has_options = false,
    .names_fields = false,
    .too_large = nullptr,
    .look = look,
    .item = item,
    .entry = entry,
    .field = nullptr,
    .type_name = type_name,
    .print = nullptr,
};

VALUE to_ruby(const of_type& type, const of_data& data) {
  switch (data.kind) {
    case OF_DATA_BOOL:
      return data.as.boolean ? Qtrue : Qfalse;
    case OF_DATA_INT:
      return LL2NUM(data.as.integer);
    case OF_DATA_UINT:
      return ULL2NUM(data.as.natural);
    case OF_DATA_FLOAT:
      return DBL2NUM(data.as.real);
    case OF_DATA_TEXT:
      return rb_utf8_str_new(data.as.text, data.count);
    case OF_DATA_DTYPE:
      return dtype_symbol(data.as.dtype);
    case OF_DATA_DEVICE:
      return device_string(data.as.device);
    case OF_DATA_TENSOR:
      return tensor_to_ruby(data.as.tensor);
    case OF_DATA_OBJECT:
      return new_object(data.of.object, data.as.object);
    case OF_DATA_LIST:
      return list_to_ruby(type, data);
    case OF_DATA_MAP:
      return map_to_ruby(type, data);
    default:
      return Qnil;
  }
}

}  // namespace oneflow::ruby
