#include "classes/classes.h"

#include <algorithm>
#include <cstring>

#include "classes/class_table.h"
#include "classes/language.h"
#include "errors.h"
#include "memory.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

// They live as long as the process, and do not change once the extension is loaded.
VALUE defined_classes;   // an Array, by position in the table
VALUE constant_objects;  // an Array, too
VALUE record_classes;    // as well

void free_object(void* memory) {
  auto* object = static_cast<Object*>(memory);
  if (object->handle) object->object_class->release(object->handle);
  xfree(object);
}

const rb_data_type_t object_type = {
    "OneFlow object", {nullptr, free_object, nullptr, nullptr, {nullptr}},   nullptr,
    nullptr,          RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

// Of classes whose objects Ractors may share once they are frozen.
const rb_data_type_t shared_type = {
    "OneFlow object that Ractors may share",
    {nullptr, free_object, nullptr, nullptr, {nullptr}},
    &object_type,
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

VALUE make(VALUE ruby_class, const ClassRecord& record) {
  Object* object;
  const VALUE value = TypedData_Make_Struct(ruby_class, Object, record.is_shared ? &shared_type : &object_type, object);
  object->object_class = of_class_find(record.name);
  return value;
}

VALUE allocate(VALUE ruby_class) { return make(ruby_class, record_of(ruby_class)); }

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
  if (const char* warning = of_bound_call_warning(finish.call)) rb_warn("%s", warning);
  const bool is_itself = type.kind == OF_TYPE_OBJECT && !type.is_optional && result.kind == OF_DATA_NONE;
  return is_itself ? finish.self : to_ruby(type, result);
}

VALUE release_call(VALUE argument) {
  of_bound_call_release(reinterpret_cast<const Finish*>(argument)->call);
  return Qnil;
}

// The arguments of a call.
struct Given {
  VALUE values;  // an Array of the positional ones, then of those by name
  VALUE names;   // an Array
  size_t count;  // of the positional ones
};

bool takes_block(const MethodRecord& record) {
  for (const of_parameter& each : std::span(record.method.parameters, record.method.parameter_count))
    if (std::strcmp(each.name, "block") == 0) return true;
  return false;
}

Given gather(const MethodRecord& record, int count, VALUE* values) {
  const bool has_block = takes_block(record);
  if (has_block && !rb_block_given_p()) raise(OF_TYPE_MISMATCH, "%s: missing block", record.method.name);
  const VALUE keywords = rb_keyword_given_p() ? values[--count] : rb_hash_new();
  const VALUE entries = entries_of(keywords);
  const Given given = {rb_ary_new_from_values(count, values), rb_ary_entry(entries, 0), static_cast<size_t>(count)};
  rb_ary_concat(given.values, rb_ary_entry(entries, 1));
  if (has_block) {
    rb_ary_push(given.names, ID2SYM(rb_intern("block")));
    rb_ary_push(given.values, rb_block_proc());
  }
  return given;
}

// Binds the arguments of a method and runs it. Raises if that fails.
of_bound_call run(const MethodRecord& record, const of_class* object_class, void* handle, int count, VALUE* values) {
  static_assert(sizeof(of_native) == sizeof(VALUE));
  Given given = gather(record, count, values);
  CallContext context = new_context();
  context.names = given.names;
  const long named = RARRAY_LEN(given.names);
  VALUE memory;
  const char** names = static_cast<const char**>(rb_alloc_tmp_buffer(&memory, (named + 1) * sizeof(char*)));
  for (long i = 0; i < named; ++i) names[i] = name_text(RARRAY_AREF(given.names, i));
  of_bound_call call = nullptr;
  of_status status = of_bind(&record.method, &ruby_language, &context, object_class, handle,
                             reinterpret_cast<const of_native*>(RARRAY_CONST_PTR(given.values)), given.count, names,
                             static_cast<size_t>(named), &call);
  rb_free_tmp_buffer(&memory);
  if (context.raised) rb_jump_tag(context.raised);
  check(status);
  const of_work work = of_bound_call_work(call);
  status = run_native(
      work != OF_WORK_SHORT, [=] { return of_bound_call_run(call); },
      work == OF_WORK_REPEATABLE ? Interrupted::kRepeats : Interrupted::kWaits);
  RB_GC_GUARD(given.values);
  RB_GC_GUARD(context.kept);
  RB_GC_GUARD(context.entries);
  if (status != OF_OK) {
    of_bound_call_release(call);
    if (status == OF_INTERRUPTED) raise_pending();
    raise_last_error(status);
  }
  return call;
}

// Tells the library which methods the class of an object overrides.
void set_overrides(VALUE self, const ClassRecord& record, VALUE defined) {
  for (const MethodRecord* each : record.methods) {
    if (!each->is_overridable) continue;
    const VALUE method = rb_obj_method(self, ID2SYM(rb_intern(each->name)));
    if (rb_funcall(method, rb_intern("owner"), 0) == defined) continue;
    const VALUE function = rb_funcall(rb_const_get(rb_cObject, rb_intern("OneFlow")), rb_intern("overriding"), 2, self,
                                      ID2SYM(rb_intern(each->name)));
    CallContext context = new_context();
    const Object& object = own_of(self);
    const of_status status = of_override(object.object_class, object.handle, &each->method, &ruby_language, &context,
                                         reinterpret_cast<of_native>(function));
    RB_GC_GUARD(context.kept);
    if (context.raised) rb_jump_tag(context.raised);
    check(status);
  }
}

VALUE initialize(int count, VALUE* values, VALUE self) {
  const ClassRecord& record = record_of(rb_obj_class(self));
  const of_bound_call call = run(*record.create, nullptr, nullptr, count, values);
  void* handle = of_bound_call_result(call)->as.object;
  Object& object = own_of(self);
  const bool is_new = !object.handle;  // calls on other threads may use another one
  if (is_new) object.object_class->retain(handle);
  if (is_new) object.handle = handle;
  of_bound_call_release(call);
  if (!is_new) raise(OF_INVALID_ARGUMENT, "%s: the object was created before", record.create->method.name);
  const VALUE defined = class_at(static_cast<size_t>(std::distance(class_records.data(), &record)));
  if (rb_obj_class(self) != defined) set_overrides(self, record, defined);
  return self;
}

// ---------------------------------------------------------------- blocks

// A block that gets an object.
struct Scope {
  const ClassRecord* record;
  VALUE object;
  bool is_complete;  // whether the block has returned
};

VALUE yield_object(VALUE argument) {
  auto& scope = *reinterpret_cast<Scope*>(argument);
  const VALUE result = rb_yield(scope.object);
  scope.is_complete = true;
  return scope.record->needs_block ? scope.object : result;
}

VALUE leave(VALUE argument) {
  const auto& scope = *reinterpret_cast<const Scope*>(argument);
  return call_method(*scope.record->leave, 0, nullptr, scope.object);
}

VALUE ignore(VALUE, VALUE) { return Qnil; }

// Ends the context. The exception of the block, if there is one, is more important than an error of the end.
VALUE end_scope(VALUE argument) {
  if (reinterpret_cast<const Scope*>(argument)->is_complete) return leave(argument);
  const VALUE error = rb_const_get(rb_const_get(rb_cObject, rb_intern("OneFlow")), rb_intern("Error"));
  return rb_rescue2(leave, argument, ignore, Qnil, error, VALUE{0});
}

// Calls the block with an object. Returns the object if it is of no use after the block, otherwise the result of the
// block.
VALUE yield_within(const ClassRecord& record, VALUE object) {
  call_method(*record.enter, 0, nullptr, object);
  Scope scope = {&record, object, false};
  const VALUE argument = reinterpret_cast<VALUE>(&scope);
  return rb_ensure(yield_object, argument, end_scope, argument);
}

VALUE use(VALUE self) {
  const ClassRecord& record = record_of(rb_obj_class(self));
  if (!rb_block_given_p()) raise(OF_TYPE_MISMATCH, "%s: missing block", record.use);
  return yield_within(record, self);
}

// ---------------------------------------------------------------- state

VALUE get_state(VALUE self) { return call_method(*record_of(rb_obj_class(self)).get_state, 0, nullptr, self); }

VALUE set_state(VALUE self, VALUE state) {
  return call_method(*record_of(rb_obj_class(self)).set_state, 1, &state, self);
}

VALUE value_of(VALUE self) { return call_method(*record_of(rb_obj_class(self)).equality, 0, nullptr, self); }

VALUE keys_of(VALUE self) { return call_method(*record_of(rb_obj_class(self)).keys, 0, nullptr, self); }

// Returns the names of what the state consists of, as Symbols.
VALUE state_fields(VALUE self) {
  const of_type& type = *record_of(rb_obj_class(self)).get_state->method.result;
  const VALUE names = rb_ary_new();
  for (uint32_t i = 0; i < type.count; ++i) rb_ary_push(names, ID2SYM(rb_intern(type.names[i])));
  return names;
}

// ---------------------------------------------------------------- definitions

VALUE text_of(VALUE self) { return call_method(*record_of(rb_obj_class(self)).text, 0, nullptr, self); }

// Returns the name of a namespace as a constant: "Graph" for "graph".
VALUE constant_name(const char* name_space) {
  return rb_funcall(rb_str_new_cstr(name_space), rb_intern("capitalize"), 0);
}

// Returns the module of a namespace, or the class of that name.
VALUE home_of(VALUE module, const char* name_space) {
  if (*name_space == 0) return module;
  VALUE name = constant_name(name_space);
  const ID id = rb_intern_str(name);
  return rb_const_defined_at(module, id) ? rb_const_get_at(module, id)
                                         : rb_define_module_under(module, StringValueCStr(name));
}

// Defines a class. lib/oneflow/object.rb has the methods of the module that it includes.
VALUE define_class(VALUE module, const ClassRecord& record) {
  const bool is_home =
      *record.name_space && RTEST(rb_str_equal(constant_name(record.name_space), rb_str_new_cstr(record.name)));
  const VALUE home = is_home ? module : home_of(module, record.name_space);
  const VALUE defined = rb_define_class_under(home, record.name, rb_cObject);
  if (record.create) {
    rb_define_alloc_func(defined, allocate);
    rb_define_method(defined, "initialize", initialize, -1);
  } else {
    rb_undef_alloc_func(defined);
    rb_undef_method(rb_singleton_class(defined), "new");
  }
  for (const MethodRecord* each : record.methods) rb_define_method(defined, each->name, each->function, -1);
  if (record.text) rb_define_method(defined, "to_s", text_of, 0);
  if (record.get_state) {
    rb_define_private_method(defined, "native_initialize", initialize, -1);
    rb_define_private_method(defined, "native_state", get_state, 0);
    rb_define_private_method(defined, "native_state=", set_state, 1);
    rb_define_private_method(defined, "state_fields", state_fields, 0);
    rb_include_module(defined, rb_define_module_under(module, "ObjectWithState"));
  }
  if (record.equality) {
    rb_define_private_method(defined, "equality", value_of, 0);
    rb_include_module(defined, rb_define_module_under(module, "ObjectWithEquality"));
  }
  if (record.use) rb_define_method(defined, record.use, use, 0);
  if (record.keys) {
    rb_define_method(defined, "keys", keys_of, 0);
    rb_define_method(defined, "[]", record.get->function, -1);
    rb_include_module(defined, rb_define_module_under(module, "ObjectWithItems"));
  }
  return defined;
}

// Defines the Struct of a record.
VALUE define_record(VALUE module, const RecordRecord& record) {
  if (record.is_array) return Qnil;
  const VALUE names = rb_ary_new();
  for (const char* each : record.fields) rb_ary_push(names, ID2SYM(rb_intern(each)));
  const VALUE defined = rb_apply(rb_cStruct, rb_intern("new"), names);
  rb_const_set(home_of(module, record.name_space), rb_intern(record.name), defined);
  if (record.text) rb_funcall(defined, rb_intern("class_eval"), 1, rb_sprintf("def to_s = %s.chomp", record.text));
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
  for (size_t i = 0; i < static_cast<size_t>(RARRAY_LEN(constant_objects)); ++i)
    if (constant_records[i].get() == handle) return constant_at(i);
  size_t position = 0;
  while (std::strcmp(class_records[position].name, object_class->name) != 0) ++position;
  const VALUE value = make(class_at(position), class_records[position]);
  object_class->retain(handle);
  own_of(value).handle = handle;
  return class_records[position].is_shared ? rb_obj_freeze(value) : value;
}

VALUE new_record(const char* name, VALUE values) {
  for (size_t i = 0; i < record_records.size(); ++i) {
    if (std::strcmp(record_records[i].name, name) != 0 || record_records[i].is_array) continue;
    return rb_obj_freeze(rb_apply(rb_ary_entry(record_classes, static_cast<long>(i)), rb_intern("new"), values));
  }
  return values;
}

VALUE constant_at(size_t position) { return rb_ary_entry(constant_objects, static_cast<long>(position)); }

VALUE call_method(const MethodRecord& record, int count, VALUE* values, VALUE self) {
  bool is_function = false;
  for (const FunctionOfRecord& each : function_of_records) {
    if (each.method != &record) continue;
    self = each.constant >= 0 ? constant_at(static_cast<size_t>(each.constant)) : Qnil;
    is_function = true;
  }
  void* handle = is_tensor(self) ? handle_of(self) : nullptr;
  const of_class* object_class = nullptr;
  if (is_object(self)) {
    const Object& object = own_of(self);
    handle = object.handle;
    object_class = object.object_class;
    if (!handle)
      raise(OF_INVALID_ARGUMENT, "%s: initialize of the class %s has not been called", record.method.name,
            object.object_class->name);
  }
  Finish finish = {&record, run(record, object_class, handle, count, values), self};
  const VALUE argument = reinterpret_cast<VALUE>(&finish);
  const VALUE result = rb_ensure(convert_result, argument, release_call, argument);
  RB_GC_GUARD(self);
  if (!is_function || !is_object(result)) return result;
  const ClassRecord& made = record_of(rb_obj_class(result));
  if (made.needs_block && !rb_block_given_p()) raise(OF_TYPE_MISMATCH, "%s: missing block", record.method.name);
  return made.enter && rb_block_given_p() ? yield_within(made, result) : result;
}

void define_classes(VALUE module) {
  defined_classes = rb_ary_new();
  constant_objects = rb_ary_new();
  rb_gc_register_mark_object(defined_classes);
  record_classes = rb_ary_new();
  rb_gc_register_mark_object(constant_objects);
  rb_gc_register_mark_object(record_classes);
  for (MethodRecord& each : method_records) each.method.implementation = of_implementation_find(each.implementation);
  for (const ClassRecord& each : class_records) rb_ary_push(defined_classes, define_class(module, each));
  for (const ConstantRecord& each : constant_records) {
    rb_ary_push(constant_objects, rb_obj_freeze(new_object(of_class_find(each.class_name), each.get())));
    rb_define_singleton_method(module, each.name, each.function, 0);
  }
  for (const RecordRecord& each : record_records) rb_ary_push(record_classes, define_record(module, each));
  for (const MethodRecord* each : tensor_methods) rb_define_method(tensor_class, each->name, each->function, -1);
  for (const FunctionOfRecord& each : function_of_records)
    rb_define_singleton_method(home_of(module, each.name_space), each.method->name, each.method->function, -1);
}

}  // namespace oneflow::ruby
