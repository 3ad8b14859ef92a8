#include "calls/binding.h"

#include <ruby/encoding.h>

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

constexpr int kMostPlain = 32;  // arguments of a call that is bound without the shared binder

void free_arguments(void* arguments) { of_arguments_release(static_cast<of_arguments*>(arguments)); }

const rb_data_type_t arguments_type = {
    "arguments of OneFlow",      {nullptr, free_arguments, nullptr, nullptr, {nullptr}}, nullptr, nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY,
};

// The keywords of a call.
struct Keywords {
  VALUE names[kMostPlain], values[kMostPlain];
  size_t count = 0;

  // Finds those that a function has. Returns false if there are others.
  bool find(const Function& function, VALUE given) {
    size_t left = RHASH_SIZE(given);
    if (left > kMostPlain) return false;
    for (long i = 0; i < RARRAY_LEN(function.keywords) && left > 0; ++i) {
      names[count] = RARRAY_AREF(function.keywords, i);
      values[count] = rb_hash_lookup2(given, names[count], Qundef);
      if (values[count] == Qundef) continue;
      ++count;
      --left;
    }
    return left == 0;
  }
};

// Returns whether a String is UTF-8, without zero bytes.
bool is_plain_text(VALUE text) {
  const int encoding = RB_ENCODING_GET(text);
  return (encoding == rb_utf8_encindex() || encoding == rb_usascii_encindex()) &&
         memchr(RSTRING_PTR(text), 0, RSTRING_LEN(text)) == nullptr;
}

// Returns whether a keyword is a Symbol that needs no quotes.
bool is_plain_name(VALUE keyword) {
  if (!RB_SYMBOL_P(keyword)) return false;
  const VALUE text = rb_sym2str(keyword);
  const std::string_view name(RSTRING_PTR(text), static_cast<size_t>(RSTRING_LEN(text)));
  return !name.empty() && is_plain_text(text) && std::all_of(name.begin(), name.end(), [](char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// Reads a String: a copy of one that other threads can change while the call runs.
bool read_text(VALUE object, of_value* value, ShortMemory* memory) {
  const VALUE text = RB_SYMBOL_P(object) ? rb_sym2str(object) : object;
  if (!is_plain_text(text)) return false;
  const size_t length = RSTRING_LEN(text);
  value->as.string = RSTRING_PTR(text);
  if (text == object) {
    void* copy = memory->allocate((length + 7) / 8);
    if (!copy) return false;
    value->as.string = static_cast<const char*>(memcpy(copy, RSTRING_PTR(text), length));
  }
  value->kind = OF_VALUE_STRING;
  value->count = static_cast<int32_t>(length);
  return true;
}

}  // namespace

bool PlainValues::read(VALUE object, of_value* value, ShortMemory* memory) {
  if (RB_FIXNUM_P(object)) {
    value->kind = OF_VALUE_INT;
    value->as.integer = RB_FIX2LONG(object);
  } else if (object == Qtrue || object == Qfalse) {
    value->kind = OF_VALUE_BOOL;
    value->as.boolean = object == Qtrue;
  } else if (NIL_P(object)) {
    value->kind = OF_VALUE_NONE;
  } else if (RB_FLOAT_TYPE_P(object)) {
    value->kind = OF_VALUE_FLOAT;
    value->as.real = RFLOAT_VALUE(object);
  } else if (is_tensor(object)) {
    value->kind = OF_VALUE_TENSOR;
    value->as.tensor = peek(object);
    return value->as.tensor != nullptr;
  } else {
    return (RB_TYPE_P(object, T_STRING) || RB_SYMBOL_P(object)) && read_text(object, value, memory);
  }
  return true;
}

bool PlainValues::items(VALUE object, const VALUE** items, size_t* count) {
  if (!RB_TYPE_P(object, T_ARRAY)) return false;
  *items = RARRAY_CONST_PTR(object);
  *count = RARRAY_LEN(object);
  return true;
}

std::string_view PlainValues::text(VALUE name) {
  if (!is_plain_name(name)) return {};
  const VALUE text = rb_sym2str(name);
  return {RSTRING_PTR(text), static_cast<size_t>(RSTRING_LEN(text))};
}

const char* BoundCall::name() const {
  const of_public_function& function = site_.function->function;
  return site_.in_place ? function.in_place_name : function.name;
}

of_manner BoundCall::manner() const {
  return site_.in_place ? OF_CALLED_IN_PLACE : site_.receiver != Qundef ? OF_CALLED_AS_METHOD : OF_CALLED_AS_FUNCTION;
}

bool BoundCall::bind_plain() {
  const Function& function = *site_.function;
  const bool has_receiver = site_.receiver != Qundef;
  VALUE positional[kMostPlain];
  Keywords keywords;
  if (!NIL_P(site_.keywords) && !keywords.find(function, site_.keywords)) return false;
  if (has_receiver) {
    if (site_.count >= kMostPlain) return false;
    positional[0] = site_.receiver;
    std::copy_n(site_.values, site_.count, positional + 1);
  }
  const int32_t found =
      short_.bind(function.function, function.names, manner(),
                  {has_receiver ? positional : site_.values, static_cast<size_t>(site_.count + has_receiver),
                   keywords.names, keywords.values, keywords.count});
  if (found < 0) return false;
  overload_ = &function.function.overloads[found];
  return true;
}

void BoundCall::bind_others() {
  owner_ = rb_data_typed_object_wrap(rb_cObject, nullptr, &arguments_type);
  context_ = new_context();
  given_ = rb_ary_new();
  if (site_.receiver != Qundef) rb_ary_push(given_, site_.receiver);
  rb_ary_cat(given_, site_.values, site_.count);
  const long count = RARRAY_LEN(given_);
  context_.names = NIL_P(site_.keywords) ? rb_ary_new() : rb_funcall(site_.keywords, rb_intern("keys"), 0);
  if (!NIL_P(site_.keywords)) rb_ary_concat(given_, rb_funcall(site_.keywords, rb_intern("values"), 0));
  const long named = RARRAY_LEN(context_.names);
  VALUE memory;
  const char** names = static_cast<const char**>(rb_alloc_tmp_buffer(&memory, (named + 1) * sizeof(char*)));
  for (long i = 0; i < named; ++i) {
    const VALUE name = RARRAY_AREF(context_.names, i);
    names[i] = is_plain_name(name) ? RSTRING_PTR(rb_sym2str(name)) : nullptr;
  }
  static_assert(sizeof(of_native) == sizeof(VALUE));
  const of_status status = of_bind_function(&site_.function->function, manner(), &ruby_language, &context_,
                                            reinterpret_cast<const of_native*>(RARRAY_CONST_PTR(given_)),
                                            static_cast<size_t>(count), names, static_cast<size_t>(named), &arguments_);
  RTYPEDDATA_DATA(owner_) = arguments_;
  rb_free_tmp_buffer(&memory);
  if (context_.raised) rb_jump_tag(context_.raised);
  if (status != OF_OK) raise(status, "%s", of_last_error());
  overload_ = arguments_->overload;
}

void BoundCall::bind() {
  if (!bind_plain()) bind_others();
}

void BoundCall::release() {
  if (!arguments_) return;
  RTYPEDDATA_DATA(owner_) = nullptr;
  of_arguments_release(arguments_);
  arguments_ = nullptr;
}

VALUE BoundCall::native(int32_t position) const {
  if (!arguments_) {
    const VALUE given = short_.natives[position];
    if (given != Qundef || short_.values[position].kind == OF_VALUE_ABSENT) return given;
    const int first = position - (site_.receiver != Qundef);
    return rb_ary_new_from_values(site_.count - first, site_.values + first);
  }
  if (arguments_->is_given[position]) return value_of(arguments_->natives[position]);
  if (!arguments_->item_count || arguments_->values[position].kind == OF_VALUE_ABSENT) return Qundef;
  return rb_ary_new_from_values(static_cast<long>(arguments_->item_count),
                                reinterpret_cast<const VALUE*>(arguments_->items));
}

VALUE BoundCall::copies_of_lists() const {
  VALUE copies = Qnil;
  for (int32_t i = 0; !arguments_ && i < overload_->parameter_count; ++i) {
    if (short_.values[i].kind != OF_VALUE_TENSOR_LIST || short_.natives[i] == Qundef) continue;
    if (NIL_P(copies)) copies = rb_ary_new();
    rb_ary_push(copies, rb_ary_dup(short_.natives[i]));
  }
  return copies;
}

void raise_too_many(const char* function, int most, int given, VALUE named) {
  VALUE hint = rb_str_new_cstr("");
  if (RARRAY_LEN(named) > 0) {
    const VALUE last = rb_ary_pop(named);
    const VALUE others = rb_ary_join(named, rb_str_new_cstr(", "));
    hint =
        rb_sprintf("; pass %" PRIsVALUE "%s%" PRIsVALUE " by name", others, RARRAY_LEN(named) > 0 ? " or " : "", last);
  }
  raise(OF_TYPE_MISMATCH, "%s: takes at most %d positional argument%s, got %d%" PRIsVALUE, function, most,
        most == 1 ? "" : "s", given, hint);
}

void prepare_names(Function& function) {
  const auto count = static_cast<size_t>(function.function.overload_count);
  function.names = static_cast<decltype(function.names)>(ruby_xcalloc(count, sizeof(*function.names)));
  rb_gc_register_mark_object(function.keywords = rb_ary_new());
  const auto add = [&](VALUE name) {
    if (!RTEST(rb_ary_includes(function.keywords, name))) rb_ary_push(function.keywords, name);
  };
  for (size_t i = 0; i < count; ++i) {
    const of_overload& overload = function.function.overloads[i];
    for (int32_t p = 0; p < overload.parameter_count; ++p)
      add(function.names[i][p] = ID2SYM(rb_intern(overload.parameters[p].name)));
  }
  add(ID2SYM(rb_intern("out")));
  for (size_t i = 0; i < count; ++i) {
    const of_overload& overload = function.function.overloads[i];
    for (int32_t p = 0; p < overload.parameter_count; ++p) {
      const char* others = overload.parameters[p].other_names;
      const VALUE list = rb_str_split(rb_str_new_cstr(others ? others : ""), " ");
      for (long n = 0; n < RARRAY_LEN(list); ++n) add(ID2SYM(rb_intern_str(RARRAY_AREF(list, n))));
    }
  }
  rb_obj_freeze(function.keywords);
}

}  // namespace oneflow::ruby
