#include "tensor/gradients.h"

#include <oneflow/autograd.h>

#include <cstdlib>

#include "classes/language.h"
#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"
#include "tensor/grad_mode.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

VALUE to_ruby_boolean(bool value) { return value ? Qtrue : Qfalse; }

// Returns a Tensor for a new reference, or nil for none.
VALUE tensor_or_nil(VALUE empty, of_tensor tensor) {
  if (!tensor) return Qnil;
  fill_tensor(empty, tensor);
  return empty;
}

// ---------------------------------------------------------------- tensors

VALUE requires_grad_p(VALUE self) { return to_ruby_boolean(of_tensor_requires_grad(handle_of(self))); }

VALUE set_requires_grad(VALUE self, VALUE value) {
  if (value != Qtrue && value != Qfalse)
    raise(OF_TYPE_MISMATCH, "requires_grad=: requires_grad must be bool, got %" PRIsVALUE, type_description(value));
  check(of_tensor_set_requires_grad(handle_of(self), value == Qtrue));
  return value;
}

VALUE leaf_p(VALUE self) { return to_ruby_boolean(of_tensor_is_leaf(handle_of(self))); }
VALUE retains_grad_p(VALUE self) { return to_ruby_boolean(of_tensor_retains_grad(handle_of(self))); }

VALUE grad_fn(VALUE self) {
  const char* name = of_tensor_grad_fn(handle_of(self));
  return name ? rb_utf8_str_new_cstr(name) : Qnil;
}

VALUE retain_grad(VALUE self) {
  check(of_tensor_retain_grad(handle_of(self)));
  return self;
}

VALUE grad(VALUE self) {
  VALUE result = new_tensor();
  of_tensor found = nullptr;
  check(of_tensor_get_grad(handle_of(self), &found));
  return tensor_or_nil(result, found);
}

VALUE set_grad(VALUE self, VALUE value) {
  if (!NIL_P(value) && !is_tensor(value)) {
    raise(OF_TYPE_MISMATCH, "grad=: grad must be Tensor or nil, got %" PRIsVALUE, type_description(value));
  }
  check(of_tensor_set_grad(handle_of(self), NIL_P(value) ? nullptr : handle_of(value)));
  return value;
}

VALUE detach(VALUE self) {
  VALUE result = new_tensor();
  of_tensor found = nullptr;
  check(of_tensor_detach(handle_of(self), &found));
  fill_tensor(result, found);
  return result;
}

// ---------------------------------------------------------------- functions of users

// A Ruby object that backward passes call.
struct Callback {
  VALUE callable;
};

Callback* make_callback(VALUE callable) {
  auto* callback = static_cast<Callback*>(ruby_xmalloc(sizeof(Callback)));
  callback->callable = callable;
  rb_gc_register_address(&callback->callable);
  return callback;
}

void destroy_callback(void* context) {
  call_with_gvl(
      [](void* callback) -> void* {
        rb_gc_unregister_address(&static_cast<Callback*>(callback)->callable);
        ruby_xfree(callback);
        return nullptr;
      },
      context);
}

// Runs `body` under rb_protect with Ruby's lock. Returns the status for the runtime; `raised` then has the exception.
of_status protect(VALUE (*body)(VALUE), void* task) {
  struct Protected {
    VALUE (*body)(VALUE);
    void* task;
    int state;
  } call = {body, task, 0};
  const auto run = [](void* context) -> void* {
    auto& own = *static_cast<Protected*>(context);
    const InheritedGradMode mode;
    rb_protect(own.body, reinterpret_cast<VALUE>(own.task), &own.state);
    enter_grad_mode();  // another fiber may have run meanwhile
    if (own.state) keep_exception(own.state);
    return nullptr;
  };
  if (!call_with_gvl(run, &call)) return of_fail(OF_UNSUPPORTED, "a Ruby function runs only on a thread of Ruby");
  return call.state ? of_fail(OF_INTERRUPTED, "a function of a backward pass has raised an exception") : OF_OK;
}

// Raises the exception of a Ruby function within a pass, or that of the status.
void check_pass(of_status status) {
  if (status == OF_INTERRUPTED) raise_pending();
  check(status);
}

// Returns an Array of new references to tensors.
VALUE array_of(const of_tensor* tensors, size_t count) {
  VALUE array = rb_ary_new_capa(static_cast<long>(count));
  for (size_t i = 0; i < count; ++i) {
    VALUE tensor = new_tensor();
    fill_tensor(tensor, of_tensor_retain(tensors[i]));
    rb_ary_push(array, tensor);
  }
  return array;
}

struct BackwardCall {
  const Callback* callback;
  const of_tensor* grads;
  size_t grad_count;
  const bool* wanted;
  of_tensor* results;
  size_t result_count;
};

VALUE run_backward_function(VALUE argument) {
  const auto& call = *reinterpret_cast<BackwardCall*>(argument);
  VALUE wanted = rb_ary_new();
  for (size_t i = 0; i < call.result_count; ++i) rb_ary_push(wanted, to_ruby_boolean(call.wanted[i]));
  VALUE found =
      rb_funcall(call.callback->callable, rb_intern("call"), 2, array_of(call.grads, call.grad_count), wanted);
  Check_Type(found, T_ARRAY);
  for (size_t i = 0; i < call.result_count; ++i) {
    VALUE grad = rb_ary_entry(found, static_cast<long>(i));
    if (call.wanted[i] && !NIL_P(grad)) call.results[i] = of_tensor_retain(handle_of(grad));
  }
  return Qnil;
}

of_status call_backward(void* context, const of_tensor* grads, size_t grad_count, const bool* wanted,
                        of_tensor* results, size_t result_count) {
  BackwardCall call = {static_cast<Callback*>(context), grads, grad_count, wanted, results, result_count};
  return protect(run_backward_function, &call);
}

// ---------------------------------------------------------------- passes

// Returns the handles of an Array of tensors and nils, in memory that `holder` keeps.
of_tensor* handles_of(VALUE array, VALUE* holder) {
  Check_Type(array, T_ARRAY);
  const long count = RARRAY_LEN(array);
  auto* handles =
      static_cast<of_tensor*>(rb_alloc_tmp_buffer(holder, (count + 1) * static_cast<long>(sizeof(of_tensor))));
  for (long i = 0; i < count; ++i) {
    VALUE item = RARRAY_AREF(array, i);
    handles[i] = NIL_P(item) ? nullptr : handle_of(item);
  }
  return handles;
}

// run_backward(tensors, grads, inputs or nil, retain_graph, create_graph, name or nil): returns the gradients of the
// inputs. With the name of a function that is differentiated, tensors may be constants.
VALUE run_backward(VALUE, VALUE tensors, VALUE grads, VALUE inputs, VALUE retain_graph, VALUE create_graph,
                   VALUE caller) {
  VALUE holders[4] = {};
  of_tensor* roots = handles_of(tensors, &holders[0]);
  of_tensor* root_grads = handles_of(grads, &holders[1]);
  const size_t count = static_cast<size_t>(RARRAY_LEN(tensors));
  const bool has_inputs = !NIL_P(inputs);
  of_tensor* wanted = has_inputs ? handles_of(inputs, &holders[2]) : nullptr;
  const size_t input_count = has_inputs ? static_cast<size_t>(RARRAY_LEN(inputs)) : 0;
  auto* results = static_cast<of_tensor*>(
      rb_alloc_tmp_buffer(&holders[3], static_cast<long>((input_count + 1) * sizeof(of_tensor))));
  VALUE found = rb_ary_new_capa(static_cast<long>(input_count));
  for (size_t i = 0; i < input_count; ++i) rb_ary_push(found, new_tensor());
  of_backward_options options = {};
  options.struct_size = sizeof(options);
  options.retain_graph = RTEST(retain_graph);
  options.create_graph = RTEST(create_graph);
  options.allow_constants = !NIL_P(caller);
  options.caller = NIL_P(caller) ? nullptr : StringValueCStr(caller);
  check_pass(run_native(true, [=] {
    return has_inputs ? of_grad(roots, root_grads, count, wanted, input_count, &options, results)
                      : of_backward(roots, root_grads, count, &options);
  }));
  for (size_t i = 0; i < input_count; ++i) {
    const long position = static_cast<long>(i);
    rb_ary_store(found, position, tensor_or_nil(RARRAY_AREF(found, position), results[i]));
  }
  for (VALUE& holder : holders) rb_free_tmp_buffer(&holder);
  RB_GC_GUARD(tensors);
  RB_GC_GUARD(grads);
  RB_GC_GUARD(inputs);
  RB_GC_GUARD(caller);
  return found;
}

// independent_variable(tensor, keeps_history)
VALUE independent_variable(VALUE, VALUE tensor, VALUE keeps_history) {
  VALUE result = new_tensor();
  of_tensor found = nullptr;
  check(of_independent_variable(handle_of(tensor), RTEST(keeps_history), &found));
  fill_tensor(result, found);
  return result;
}

// type_description(value)
VALUE type_description_of(VALUE, VALUE value) { return type_description(value); }

// depends_on_others(tensors, inputs)
VALUE depends_on_others(VALUE, VALUE tensors, VALUE inputs) {
  VALUE holders[2] = {};
  of_tensor* given = handles_of(tensors, &holders[0]);
  of_tensor* others = handles_of(inputs, &holders[1]);
  bool found = false;
  check(of_depends_on_others(given, static_cast<size_t>(RARRAY_LEN(tensors)), others,
                             static_cast<size_t>(RARRAY_LEN(inputs)), &found));
  for (VALUE& holder : holders) rb_free_tmp_buffer(&holder);
  RB_GC_GUARD(tensors);
  RB_GC_GUARD(inputs);
  return to_ruby_boolean(found);
}

// record_function(name, inputs, outputs, callable)
VALUE record_function(VALUE, VALUE name, VALUE inputs, VALUE outputs, VALUE callable) {
  VALUE holders[2] = {};
  of_tensor* given = handles_of(inputs, &holders[0]);
  of_tensor* made = handles_of(outputs, &holders[1]);
  const char* text = StringValueCStr(name);
  check(of_record_function(text, given, static_cast<size_t>(RARRAY_LEN(inputs)), made,
                           static_cast<size_t>(RARRAY_LEN(outputs)), call_backward, make_callback(callable),
                           destroy_callback));
  for (VALUE& holder : holders) rb_free_tmp_buffer(&holder);
  RB_GC_GUARD(inputs);
  RB_GC_GUARD(outputs);
  return Qnil;
}

}  // namespace

void define_gradients(VALUE module) {
  rb_define_method(tensor_class, "requires_grad?", requires_grad_p, 0);
  rb_define_method(tensor_class, "requires_grad=", set_requires_grad, 1);
  rb_define_method(tensor_class, "leaf?", leaf_p, 0);
  rb_define_method(tensor_class, "grad_fn", grad_fn, 0);
  rb_define_method(tensor_class, "grad", grad, 0);
  rb_define_method(tensor_class, "grad=", set_grad, 1);
  rb_define_method(tensor_class, "retain_grad", retain_grad, 0);
  rb_define_method(tensor_class, "retains_grad?", retains_grad_p, 0);
  rb_define_method(tensor_class, "detach", detach, 0);
  VALUE autograd = rb_define_module_under(module, "Autograd");
  define_grad_mode(module, autograd);
  rb_define_singleton_method(autograd, "run_backward", run_backward, 6);
  rb_define_singleton_method(autograd, "independent_variable", independent_variable, 2);
  rb_define_singleton_method(autograd, "depends_on_others", depends_on_others, 2);
  rb_define_singleton_method(autograd, "record_function", record_function, 4);
  rb_define_singleton_method(autograd, "type_description", type_description_of, 1);
}

}  // namespace oneflow::ruby
