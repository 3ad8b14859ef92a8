#include "calls/define.h"

#include <ruby/ractor.h>

#include "errors.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

VALUE weak_number_class;
ID value_id;

// tensor.coerce(number): makes `2 + tensor` call OneFlow.add(2, tensor). The number is not converted to a tensor, which
// would take part in dtype promotion. The operator itself raises for a Complex number.
VALUE coerce(VALUE self, VALUE other) {
  if (!RTEST(rb_obj_is_kind_of(other, rb_cNumeric)) && other != Qtrue && other != Qfalse) {
    raise(OF_TYPE_MISMATCH, "coerce: other must be Numeric, got %" PRIsVALUE, type_description(other));
  }
  VALUE weak = rb_obj_alloc(weak_number_class);
  rb_ivar_set(weak, value_id, other);
  return rb_assoc_new(weak, self);
}

// Returns the module that a namespace stands for, defining it if necessary: OneFlow::Comm::Local for "Comm::Local",
// OneFlow for NULL.
VALUE owner_of(VALUE module, const char* name_space) {
  if (!name_space) return module;
  VALUE names = rb_str_split(rb_str_new_cstr(name_space), "::");
  for (long i = 0; i < RARRAY_LEN(names); ++i) {
    VALUE name = RARRAY_AREF(names, i);
    module = rb_define_module_under(module, StringValueCStr(name));
  }
  return module;
}

// Defines the private constant `constant`: a Hash of the names of functions or methods elsewhere, with what errors say.
void define_texts(VALUE module, const char* constant, bool methods) {
  const VALUE texts = rb_hash_new();
  for (const ElsewhereName& each : elsewhere_table)
    if (each.is_method == methods)
      rb_hash_aset(texts, rb_utf8_str_new_cstr(each.name), rb_utf8_str_new_cstr(each.text));
  rb_define_const(module, constant, rb_ractor_make_shareable(texts));
  rb_funcall(module, rb_intern("private_constant"), 1, ID2SYM(rb_intern(constant)));
}

}  // namespace

VALUE weak_number_value(VALUE self) { return rb_ivar_get(self, value_id); }

void define_weak_numbers(VALUE module) {
  value_id = rb_intern("@value");
  weak_number_class = rb_define_class_under(module, "WeakNumber", rb_cObject);
  rb_funcall(module, rb_intern("private_constant"), 1, ID2SYM(rb_intern("WeakNumber")));
  rb_define_method(tensor_class, "coerce", coerce, 1);
}

void define_elsewhere(VALUE module) {
  define_texts(module, "FUNCTIONS_ELSEWHERE", false);
  define_texts(module, "METHODS_ELSEWHERE", true);
}

void prepare_function(Function& function) {
  const auto count = static_cast<size_t>(function.function.overload_count);
  function.ops = static_cast<of_op*>(ruby_xcalloc(count, sizeof(of_op)));
  for (size_t i = 0; i < count; ++i) {
    const char* name = function.function.overloads[i].op;
    function.ops[i] = of_op_find(name);
    if (function.ops[i]) continue;
    rb_raise(rb_eLoadError, "this extension requires another version of liboneflow: operator %s is not defined", name);
  }
  prepare_names(function);
}

void define_function(VALUE module, Function& function, const EntryPoints& entry_points) {
  prepare_function(function);
  rb_define_singleton_method(owner_of(module, function.name_space), function.name, entry_points.function, -1);
  if (function.method) {
    bool enumerable = rb_method_boundp(rb_mEnumerable, rb_intern(function.method), 0);
    rb_define_method(tensor_class, function.method, enumerable ? entry_points.enumerable : entry_points.method, -1);
  }
  if (function.in_place && function.function.overloads[0].receiver >= 0)
    rb_define_method(tensor_class, function.in_place, entry_points.in_place, -1);
  else if (function.in_place)
    rb_define_singleton_method(owner_of(module, function.name_space), function.in_place, entry_points.in_place_list,
                               -1);
  if (function.operator_) {
    rb_define_method(tensor_class, function.operator_, entry_points.method, -1);
    rb_define_method(weak_number_class, function.operator_, entry_points.reflected, -1);
  }
}

}  // namespace oneflow::ruby
