#include "classes/language.h"

#include <ruby/encoding.h>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <span>

#include "classes/classes.h"
#include "memory.h"
#include "tensor/convert.h"
#include "tensor/native_data.h"
#include "tensor/tensor.h"

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
  const VALUE copy =
      keep(context, rb_str_new_frozen(is_utf8(name) ? name : rb_str_conv_enc(name, nullptr, rb_utf8_encoding())));
  const int range = rb_enc_str_coderange(copy);
  const bool is_valid =
      range == ENC_CODERANGE_7BIT || (range == ENC_CODERANGE_VALID && rb_enc_get(copy) == rb_utf8_encoding());
  data->kind = is_valid ? OF_DATA_TEXT : OF_DATA_BAD_TEXT;
  data->as.text = is_utf8(copy) ? RSTRING_PTR(copy) : nullptr;
  data->count = static_cast<uint32_t>(RSTRING_LEN(copy));
}

// Looks at an object that converts itself: a real Numeric such as a Rational, or what has `to_str`.
void look_at_object(void* context, VALUE object, of_data* data) {
  if (is_real(object)) {
    data->kind = OF_DATA_FLOAT;
    data->as.real = NUM2DBL(object);
  } else if (const VALUE text = rb_check_string_type(object); !NIL_P(text)) {
    look_at_text(context, text, data);
  }
}

// Returns the keys and the values of a Hash as they are at first.
VALUE first_entries_of(void* context, VALUE hash) {
  VALUE& known = static_cast<CallContext*>(context)->entries;
  if (NIL_P(known)) known = rb_funcall(rb_hash_new(), rb_intern("compare_by_identity"), 0);
  VALUE entries = rb_hash_lookup(known, hash);
  if (NIL_P(entries)) rb_hash_aset(known, hash, entries = entries_of(hash));
  return entries;
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
    return guarded(context, [=] {
      data->count = static_cast<uint32_t>(RARRAY_LEN(rb_ary_entry(first_entries_of(context, value), 0)));
    });
  } else if (is_tensor(value)) {
    data->kind = peek(value) ? OF_DATA_TENSOR : OF_DATA_DISPOSED;
    data->as.tensor = peek(value);
  } else if (is_object(value)) {
    const Object& object = object_of(value);
    data->kind = object.handle ? OF_DATA_OBJECT : OF_DATA_DISPOSED;
    data->as.object = object.handle;
    data->of.object = object.object_class;
  } else if (rb_obj_is_proc(value) == Qtrue || rb_obj_is_method(value) == Qtrue) {
    data->kind = OF_DATA_FUNCTION;
  } else {
    return guarded(context, [=] { look_at_object(context, value, data); });
  }
  return OF_OK;
}

of_status items(void* context, of_native list, uint32_t count, of_native* items) {
  return guarded(context, [=] {
    const VALUE copy = keep(context, rb_ary_dup(value_of(list)));  // other code may change the list
    for (uint32_t i = 0; i < count; ++i) items[i] = native_of(rb_ary_entry(copy, i));
  });
}

of_status entry(void* context, of_native map, uint32_t position, of_native* key, of_native* item) {
  return guarded(context, [=] {
    const VALUE entries = first_entries_of(context, value_of(map));
    *key = native_of(rb_ary_entry(rb_ary_entry(entries, 0), position));
    *item = native_of(rb_ary_entry(rb_ary_entry(entries, 1), position));
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

const char* print(void* context, of_native native) {
  const char* words = "an object";
  guarded(context, [&] {
    const VALUE value = value_of(native);
    const bool is_utf8_text = RB_TYPE_P(value, T_STRING) && is_utf8(value);
    VALUE text =
        keep(context, rb_inspect(is_utf8_text ? rb_utf8_str_new(RSTRING_PTR(value), RSTRING_LEN(value)) : value));
    words = StringValueCStr(text);
  });
  return words;
}

bool is_true(void*, of_native value) { return RTEST(value_of(value)); }

of_status path(void* context, of_native native, of_data* data) {
  data->kind = OF_DATA_OTHER;
  return guarded(context, [=] {
    VALUE value = value_of(native);
    if (rb_respond_to(value, rb_intern("to_path"))) value = rb_funcall(value, rb_intern("to_path"), 0);
    if (!RB_TYPE_P(value, T_STRING)) return;
    const VALUE copy = keep(context, rb_str_new_frozen(value));
    data->kind = OF_DATA_TEXT;
    data->as.text = RSTRING_PTR(copy);
    data->count = static_cast<uint32_t>(RSTRING_LEN(copy));
  });
}

// Gets the bounds of a Range or an arithmetic sequence. Returns false if it has none, or is empty.
bool bounds_of(VALUE value, int64_t bounds[3]) {
  rb_arithmetic_sequence_components_t range;
  if (!range_of(value, &range) || !int64_of(range.begin, &bounds[0]) || !int64_of(range.step, &bounds[2])) return false;
  bounds[1] = INT64_MAX;
  const bool has_end = !NIL_P(range.end);
  if (has_end && !RB_INTEGER_TYPE_P(range.end)) return false;
  if (has_end && int64_of(range.end, &bounds[1]) && range.exclude_end) --bounds[1];
  if (bounds[2] < 1 || bounds[0] < 0 || bounds[1] < bounds[0]) return false;
  bounds[1] -= (bounds[1] - bounds[0]) % bounds[2];
  return true;
}

of_status range(void* context, of_native native, int64_t bounds[3]) {
  if (bounds_of(value_of(native), bounds)) return OF_OK;
  char text[256];
  snprintf(text, sizeof text, "be a Range or an arithmetic sequence of sizes that is not empty, got %s",
           print(context, native));
  return of_fail(OF_TYPE_MISMATCH, text);
}

bool is_array(void*, of_native native) {
  const VALUE value = value_of(native);
  return RB_TYPE_P(value, T_ARRAY) || value == Qtrue || value == Qfalse || RTEST(rb_obj_is_kind_of(value, rb_cNumeric));
}

of_status tensor(void* context, of_native value, const of_tensor_request* request, of_tensor* tensor) {
  return guarded(context, [=] {
    VALUE name = rb_sprintf("%s: %s", request->function, request->argument);
    const of_device device = request->device ? *request->device : of_default_device();
    const VALUE made = keep(context, tensor_from_array(StringValueCStr(name), value_of(value), OF_DTYPE_NONE, device));
    *tensor = of_tensor_retain(handle_of(made));
    RB_GC_GUARD(name);
  });
}

of_tensor find_tensor(void*, of_native native) {
  const VALUE value = value_of(native);
  if (is_tensor(value)) return peek(value);
  of_tensor found = nullptr;
  for (long i = 0; RB_TYPE_P(value, T_ARRAY) && i < RARRAY_LEN(value) && !found; ++i) {
    const VALUE item = RARRAY_AREF(value, i);
    if (is_tensor(item)) found = peek(item);
  }
  return found;
}

const char* text_condition(void* context, of_native native) {
  const char* condition = "convertible to UTF-8";
  guarded(context, [&] {
    const VALUE text = RB_SYMBOL_P(value_of(native)) ? rb_sym2str(value_of(native)) : rb_str_to_str(value_of(native));
    VALUE words = keep(context, rb_sprintf("%s, got '%" PRIsVALUE "' in %s", condition, printable(text),
                                           rb_enc_name(rb_enc_get(text))));
    condition = StringValueCStr(words);
  });
  return condition;
}

// Shows the bare name of a Symbol that needs no quotes, else the literal. A key such as the String in f("dim" => 1)
// does not name an argument.
of_status show_name(void* context, size_t position, const char** shown, const char** word) {
  return guarded(context, [=] {
    const VALUE key = rb_ary_entry(static_cast<CallContext*>(context)->names, static_cast<long>(position));
    const VALUE literal = rb_inspect(key);
    const bool is_plain = RB_SYMBOL_P(key) && RSTRING_PTR(literal)[1] != '"';
    VALUE text = keep(context, is_plain ? rb_sym2str(key) : literal);
    *shown = StringValueCStr(text);
    const VALUE name = RB_SYMBOL_P(key) ? rb_sym2str(key) : key;
    const bool is_text = RB_TYPE_P(name, T_STRING);
    *word = is_text ? RSTRING_PTR(keep(context, rb_str_new(RSTRING_PTR(name), RSTRING_LEN(name)))) : "";
  });
}

// ---------------------------------------------------------------- functions

// What ended a function, which raise_pending() raises: an exception, or the state of rb_protect() after a throw.
thread_local VALUE raised = Qnil;
thread_local int pending = 0;

of_status parameters(void* context, of_native function, uint32_t count, const char** names) {
  return guarded(context, [=] {
    const VALUE list = keep(context, rb_funcall(value_of(function), rb_intern("parameters"), 0));
    uint32_t named = 0;
    if (!RB_TYPE_P(list, T_ARRAY)) return;  // a class may override the method
    for (long i = 0; i < RARRAY_LEN(list) && named < count; ++i) {
      const VALUE pair = rb_ary_entry(list, i);
      const VALUE kind = RB_TYPE_P(pair, T_ARRAY) ? rb_ary_entry(pair, 0) : Qnil;
      if (kind != ID2SYM(rb_intern("req")) && kind != ID2SYM(rb_intern("opt"))) continue;
      const char* name = name_text(rb_ary_entry(pair, 1));
      if (name == nullptr) break;
      const bool is_numbered = name[0] == '_' && isdigit(name[1]) && name[2] == 0;
      if (*name == 0 || std::strcmp(name, "_") == 0 || is_numbered) break;
      names[named++] = name;
    }
  });
}

void* hold(void*, of_native function) {
  auto* held = new VALUE(value_of(function));
  rb_gc_register_address(held);
  return held;
}

void drop(void* held) {
  const auto release = [](void* value) -> void* {
    rb_gc_unregister_address(static_cast<VALUE*>(value));
    delete static_cast<VALUE*>(value);
    return nullptr;
  };
  call_with_gvl(release, held);
}

// A call of a function.
struct FunctionCall {
  VALUE function;
  std::span<const of_data> arguments;
  of_receiver receive;
  void* receiver;
  of_status status;

  // Runs with Ruby's lock.
  static void* run(void* task) {
    auto& own = *static_cast<FunctionCall*>(task);
    const InheritedGradMode mode;
    CallContext context = new_context();
    own.status = guarded(&context, [&] {
      static const of_type any = {OF_TYPE_DATA, false, "any", nullptr, 0, nullptr, nullptr};
      const VALUE values = rb_ary_new_capa(static_cast<long>(own.arguments.size()));
      for (const of_data& each : own.arguments) rb_ary_push(values, to_ruby(any, each));
      const VALUE result = keep(&context, rb_apply(own.function, rb_intern("call"), values));
      enter_grad_mode();  // another fiber may have run meanwhile
      own.receive(own.receiver, &context, native_of(result));
    });
    RB_GC_GUARD(context.kept);
    RB_GC_GUARD(context.entries);
    if (context.raised) {
      enter_grad_mode();
      keep_exception(context.raised);
    }
    return nullptr;
  }
};

of_status call(void* held, const of_data* arguments, uint32_t count, of_receiver receive, void* receiver) {
  FunctionCall task = {*static_cast<VALUE*>(held), {arguments, count}, receive, receiver, OF_OK};
  if (!call_with_gvl(FunctionCall::run, &task))
    return of_fail(OF_UNSUPPORTED, "a Ruby function runs only on a thread of Ruby");
  return task.status;
}

// ---------------------------------------------------------------- results

// Returns the type of an item.
const of_type& item_type(const of_type& type, uint32_t position) {
  if (type.kind == OF_TYPE_DATA) return type;
  return type.items[type.kind == OF_TYPE_RECORD ? position : 0];
}

VALUE range_to_ruby(const of_data& data) {
  const int64_t minimum = data.as.items[0].as.integer, maximum = data.as.items[1].as.integer;
  const int64_t step = data.as.items[2].as.integer;
  const VALUE range = rb_range_new(LL2NUM(minimum), maximum > INT64_MAX - step ? Qnil : LL2NUM(maximum), 0);
  return step == 1 ? range : rb_funcall(range, '%', 1, LL2NUM(step));
}

VALUE list_to_ruby(const of_type& type, const of_data& data) {
  const VALUE list = rb_ary_new_capa(data.count);
  for (uint32_t i = 0; i < data.count; ++i) rb_ary_push(list, to_ruby(item_type(type, i), data.as.items[i]));
  return type.kind == OF_TYPE_RECORD ? new_record(type.name, list) : list;
}

VALUE map_to_ruby(const of_type& type, const of_data& data) {
  const VALUE map = rb_hash_new();
  for (uint32_t i = 0; i < data.count; ++i)
    rb_hash_aset(map, data.own ? value_of(data.own[i]) : rb_utf8_str_new_cstr(data.of.keys[i]),
                 to_ruby(item_type(type, 0), data.as.items[i]));
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
    .text_word = "String or Symbol",
    .nested_word = "Tensor, Hash or Array",
    .list_word = "Array",
    .nothing_word = "nil",
    .map_word = "Hash",
    .disposed_word = "one that was never given a value",
    .hides_positions = false,
    .disposed_text = "is a tensor that was allocated but never given a value",
    .outputs_word = "Array",
    .flag_name = "requires_grad",
    .flag_word = "bool",
    .counts_flags = false,
    .longest_list = INT32_MAX,
    .longest_text = 0,
    .too_large = nullptr,
    .look = look,
    .index = nullptr,
    .items = items,
    .entry = entry,
    .field = nullptr,
    .type_name = type_name,
    .print = print,
    .is_true = is_true,
    .path = path,
    .range = range,
    .is_array = is_array,
    .tensor = tensor,
    .find_tensor = find_tensor,
    .text_condition = text_condition,
    .show_name = show_name,
    .parameters = parameters,
    .hold = hold,
    .drop = drop,
    .call = call,
};

VALUE entries_of(VALUE hash) {
  const VALUE entries = rb_assoc_new(rb_ary_new(), rb_ary_new());
  const auto add = [](VALUE key, VALUE value, VALUE both) -> int {
    rb_ary_push(rb_ary_entry(both, 0), key);
    rb_ary_push(rb_ary_entry(both, 1), value);
    return ST_CONTINUE;
  };
  rb_hash_foreach(hash, add, entries);
  return entries;
}

const char* name_text(VALUE key) {
  if (!RB_SYMBOL_P(key)) return nullptr;
  const VALUE text = rb_sym2str(key);
  const bool is_valid = is_utf8(text) && rb_enc_str_coderange(text) != ENC_CODERANGE_BROKEN;
  return is_valid && memchr(RSTRING_PTR(text), 0, RSTRING_LEN(text)) == nullptr ? RSTRING_PTR(text) : nullptr;
}

CallContext new_context() { return {rb_ary_new(), Qnil, 0, Qnil}; }

void keep_exception(int state) {
  const VALUE exception = rb_errinfo();
  if (!RTEST(rb_obj_is_kind_of(exception, rb_eException))) {
    pending = state;
    return;
  }
  raised = exception;
  rb_gc_register_address(&raised);
  rb_set_errinfo(Qnil);
}

void raise_pending() {
  if (!NIL_P(raised)) {
    const VALUE exception = raised;
    raised = Qnil;
    rb_gc_unregister_address(&raised);
    rb_exc_raise(exception);
  }
  const int state = pending;
  pending = 0;
  if (state) rb_jump_tag(state);
}

VALUE to_ruby(const of_type& type, const of_data& data) {
  switch (data.kind) {
    case OF_DATA_BOOL:
      return data.as.boolean ? Qtrue : Qfalse;
    case OF_DATA_INT:
      return LL2NUM(data.as.integer);
    case OF_DATA_UINT:
      return ULL2NUM(data.as.natural);
    case OF_DATA_FLOAT:
      if (type.kind == OF_TYPE_INT) return rb_dbl2big(data.as.real);
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
    case OF_DATA_FUNCTION:
      return *static_cast<VALUE*>(of_function_held(data.as.function));
    case OF_DATA_LIST:
    case OF_DATA_RECORD:
      return type.kind == OF_TYPE_RANGE ? range_to_ruby(data) : list_to_ruby(type, data);
    case OF_DATA_MAP:
      return map_to_ruby(type, data);
    default:
      return Qnil;
  }
}

}  // namespace oneflow::ruby
