#include "classes.h"

#include <cstring>

#include "class_table.h"
#include "errors.h"
#include "language.h"
#include "memory.h"

namespace oneflow::ruby {
namespace {

// They live as long as the process, and do not change once the extension is loaded.
VALUE defined_classes;   // an Array, by position in the table
VALUE constant_objects;  // an Array, too

void free_object(void* memory) {
  auto* object = static_cast<Object*>(memory);
  if (object->handle) object->object_class->release(object->handle);
  xfree(object);
}

// Objects are thread-safe, so that Ractors may share one once it is frozen.
const rb_data_type_t object_type = {
    "OneFlow object",
    {nullptr, free_object, nullptr, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

Object& own_of(VALUE object) { return *static_cast<Object*>(rb_check_typeddata(object, &object_type)); }

VALUE class_at(size_t position) { return rb_ary_entry(defined_classes, static_cast<long>(position)); }

// Returns the record of a class, or of the one that it is a subclass of.
const ClassRecord& record_of(VALUE ruby_class) {
  for (size_t i = 0; i < class_records.size(); ++i)
    if (RTEST(rb_class_inherited_p(ruby_class, class_at(i)))) return class_records[i];
  rb_raise(rb_eTypeError, "not a class of OneFlow");
}

VALUE allocate(VALUE ruby_class) {
  const ClassRecord& record = record_of(ruby_class);
  Object* object;
  const VALUE value = TypedData_Make_Struct(ruby_class, Object, &object_type, object);
  object->object_class = of_class_find(record.name);
  return value;
}

// A call whose arguments are bound, and what to do with its result.
struct Finish {
  const MethodRecord* record;
  of_bound_call call;
  VALUE self;
};

VALUE convert_result(VALUE argument) {
  const auto& finish = *reinterpret_cast<const Finish*>(argument);
  const of_data& result = *of_bound_call_result(finish.call);
  const of_type& type = *finish.record->method.result;
  return type.kind == OF_TYPE_OBJECT && result.kind == OF_DATA_NONE ? finish.self : to_ruby(type, result);
}

VALUE release_call(VALUE argument) {
  of_bound_call_release(reinterpret_cast<const Finish*>(argument)->call);
  return Qnil;
}

// Binds the arguments of a method and runs it. Raises if that fails.
of_bound_call run(const MethodRecord& record, void* handle, int count, VALUE* values) {
  static_assert(sizeof(of_native) == sizeof(VALUE));
  constexpr uint32_t kMostNames = 64;
  const char* names[kMostNames];
  uint32_t name_count = 0;
  VALUE given = Qnil;  // the positional arguments, then the named ones
  VALUE keys = Qnil;
  const VALUE* natives = values;
  if (rb_keyword_given_p()) {
    const VALUE keywords = values[--count];
    given = rb_ary_new_from_values(count, values);
    keys = rb_funcall(keywords, rb_intern("keys"), 0);
    for (long i = 0; i < RARRAY_LEN(keys) && name_count < kMostNames; ++i) {
      const VALUE key = rb_ary_entry(keys, i);
      if (!RB_SYMBOL_P(key))
        raise(OF_TYPE_MISMATCH, "%s: unknown argument %" PRIsVALUE, record.method.name, rb_inspect(key));
      VALUE name = rb_sym2str(key);
      names[name_count++] = StringValueCStr(name);
      rb_ary_push(given, rb_hash_aref(keywords, key));
    }
    natives = RARRAY_CONST_PTR(given);
  }
  CallContext context = {rb_ary_new(), 0};
  of_bound_call call = nullptr;
  of_status status =
      of_bind(&record.method, &ruby_language, &context, handle, reinterpret_cast<const of_native*>(natives),
              static_cast<size_t>(count), names, name_count, &call);
  RB_GC_GUARD(given);
  RB_GC_GUARD(keys);
  RB_GC_GUARD(context.kept);
  if (context.raised) rb_jump_tag(context.raised);
  check(status);
  status = run_native(false, [=] { return of_bound_call_run(call); });
  if (status != OF_OK) {
    of_bound_call_release(call);
    raise_last_error(status);
  }
  return call;
}

VALUE initialize(int count, VALUE* values, VALUE self) {
  const ClassRecord& record = record_of(rb_obj_class(self));
  const of_bound_call call = run(*record.create, nullptr, count, values);
  void* handle = of_bound_call_result(call)->as.object;
  Object& object = own_of(self);
  object.object_class->retain(handle);
  of_bound_call_release(call);
  void* before = object.handle;
  object.handle = handle;
  if (before) object.object_class->release(before);
  return self;
}

// ---------------------------------------------------------------- state

VALUE get_state(VALUE self) { return call_method(*record_of(rb_obj_class(self)).get_state, 0, nullptr, self); }

VALUE set_state(VALUE self, VALUE state) {
  return call_method(*record_of(rb_obj_class(self)).set_state, 1, &state, self);
}

// Returns the names of what the state consists of, as Symbols.
VALUE state_fields(VALUE self) {
  const of_type& type = *record_of(rb_obj_class(self)).get_state->method.result;
  const VALUE names = rb_ary_new();
  for (uint32_t i = 0; i < type.count; ++i) rb_ary_push(names, ID2SYM(rb_intern(type.names[i])));
  return names;
}

// ---------------------------------------------------------------- definitions

// Defines a class. lib/oneflow/object.rb has the methods of the module that it includes.
VALUE define_class(VALUE module, const ClassRecord& record) {
  const VALUE defined = rb_define_class_under(module, record.name, rb_cObject);
  rb_define_alloc_func(defined, allocate);
  if (record.create)
    rb_define_method(defined, "initialize", initialize, -1);
  else
    rb_undef_method(rb_singleton_class(defined), "new");
  for (const MethodRecord& each : record.methods) rb_define_method(defined, each.name, each.function, -1);
  if (record.get_state) {
    rb_define_private_method(defined, "native_state", get_state, 0);
    rb_define_private_method(defined, "native_state=", set_state, 1);
    rb_define_private_method(defined, "state_fields", state_fields, 0);
    rb_include_module(defined, rb_define_module_under(module, "ObjectWithState"));
  }
  return defined;
}

}  // namespace

bool is_object(VALUE value) { return rb_typeddata_is_kind_of(value, &object_type) != 0; }

const Object& object_of(VALUE object) { return own_of(object); }

void* handle_of_class(VALUE value, const char* class_name) {
  if (!is_object(value)) return nullptr;
  const Object& object = own_of(value);
  return std::strcmp(object.object_class->name, class_name) == 0 ? object.handle : nullptr;
}

VALUE new_object(const of_class* object_class, void* handle) {
  size_t position = 0;
  while (std::strcmp(class_records[position].name, object_class->name) != 0) ++position;
  const VALUE value = allocate(class_at(position));
  object_class->retain(handle);
  own_of(value).handle = handle;
  return value;
}

VALUE constant_at(size_t position) { return rb_ary_entry(constant_objects, static_cast<long>(position)); }

VALUE call_method(const MethodRecord& record, int count, VALUE* values, VALUE self) {
  for (const ConstantMethodRecord& each : constant_method_records)
    if (each.method == &record) self = constant_at(each.constant);
  void* handle = nullptr;
  if (is_object(self)) {
    const Object& object = own_of(self);
    handle = object.handle;
    if (!handle)
      raise(OF_INVALID_ARGUMENT, "%s: initialize of the class %s has not been called", record.method.name,
            object.object_class->name);
  }
  Finish finish = {&record, run(record, handle, count, values), self};
  const VALUE argument = reinterpret_cast<VALUE>(&finish);
  const VALUE result = rb_ensure(convert_result, argument, release_call, argument);
  RB_GC_GUARD(self);
  return result;
}

void define_classes(VALUE module) {
  defined_classes = rb_ary_new();
  constant_objects = rb_ary_new();
  rb_gc_register_mark_object(defined_classes);
  rb_gc_register_mark_object(constant_objects);
  for (MethodRecord& each : method_records) each.method.implementation = of_implementation_find(each.implementation);
  for (const ClassRecord& each : class_records) rb_ary_push(defined_classes, define_class(module, each));
  for (const ConstantRecord& each : constant_records) {
    rb_ary_push(constant_objects, rb_obj_freeze(new_object(of_class_find(each.class_name), each.get())));
    rb_define_singleton_method(module, each.name, each.function, 0);
  }
  for (const ConstantMethodRecord& each : constant_method_records)
    rb_define_singleton_method(module, each.method->name, each.method->function, -1);
}

}  // namespace oneflow::ruby
