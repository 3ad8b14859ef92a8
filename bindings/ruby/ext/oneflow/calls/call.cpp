#include "calls/call.h"

#include <oneflow/autograd.h>
#include <oneflow/front_end.h>
#include <oneflow/processes.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "calls/labelled.h"
#include "classes/classes.h"
#include "errors.h"
#include "memory.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

// Runs a bound call, without Ruby's lock if it is long. That is safe because its lists and strings are copies, and the
// handle of a tensor never changes.
void run(const BoundCall& call, of_value* results, Interrupted when_interrupted = Interrupted::kWaits) {
  const of_op op = call.op();
  const of_value* values = call.values();
  const auto count = static_cast<size_t>(call.overload().parameter_count);
  const auto result_count = static_cast<size_t>(call.overload().result_count);
  const auto work = [=] { return of_call(op, values, count, results, result_count); };
  const of_status status = call.run(of_call_is_long(op, values, count), work, when_interrupted);
  if (status != OF_OK) of_error_set_caller(call.name());
  check(status);
}

// Returns whether a call with new results can be repeated.
Interrupted when_interrupted(const of_overload& overload) {
  for (const of_parameter& each : std::span(overload.parameters, static_cast<size_t>(overload.parameter_count)))
    if (each.type->kind == OF_TYPE_WRITTEN || each.type->kind == OF_TYPE_OBJECT) return Interrupted::kWaits;
  return Interrupted::kRepeats;
}

// Runs a call that writes its results to `targets`. The targets are copied to the stack, where the garbage collector
// finds them: another thread may change the Array that they were given in.
void run_into(const BoundCall& call, const VALUE* targets) {
  VALUE kept[OF_MAX_RESULTS];
  of_value results[OF_MAX_RESULTS];
  for (int i = 0; i < call.overload().result_count; ++i) {
    kept[i] = targets[i];
    results[i] = target_value(kept[i]);
  }
  run(call, results);
  for (VALUE& target : kept) RB_GC_GUARD(target);
}

// Runs an operator that writes to one of its arguments, and returns that argument.
VALUE run_writing(const BoundCall& call) {
  VALUE target = call.native(call.overload().written);
  rb_check_frozen(target);
  of_value result = {};
  run(call, &result);
  of_value_release(&result);
  return target;
}

// A list of tensors while it is converted to an Array.
struct TensorList {
  of_value value;
  VALUE array;
};

VALUE wrap_list(VALUE context) {
  TensorList& list = *reinterpret_cast<TensorList*>(context);
  for (int32_t i = 0; i < list.value.count; ++i) {
    VALUE object = new_tensor();
    rb_ary_push(list.array, object);
    fill_tensor(object, of_tensor_retain(list.value.as.tensors[i]));
  }
  return list.array;
}

VALUE release_list(VALUE context) {
  of_value_release(&reinterpret_cast<TensorList*>(context)->value);
  return Qnil;
}

// Runs an operator that returns a list of tensors. Its length is unknown before the call, so the Ruby objects are
// allocated afterwards; rb_ensure() releases the list if Ruby runs out of memory then.
VALUE run_for_list(const BoundCall& call) {
  TensorList list = {{}, rb_ary_new()};
  run(call, &list.value, when_interrupted(call.overload()));
  VALUE context = reinterpret_cast<VALUE>(&list);
  VALUE tensors = rb_ensure(wrap_list, context, release_list, context);
  const int viewed = call.overload().viewed;
  if (viewed >= 0 && RB_OBJ_FROZEN(call.native(viewed)))
    for (long i = 0; i < RARRAY_LEN(tensors); ++i) rb_obj_freeze(RARRAY_AREF(tensors, i));
  return tensors;
}

// Runs a call that allocates its results, and returns the Tensor, or an Array if there are several.
VALUE run_with_new_results(const BoundCall& call) {
  const of_overload& overload = call.overload();
  if (overload.gives_list) return run_for_list(call);
  VALUE objects[OF_MAX_RESULTS];
  of_value results[OF_MAX_RESULTS];
  for (int i = 0; i < overload.result_count; ++i) {
    objects[i] = new_tensor();
    results[i].kind = OF_VALUE_ABSENT;
  }
  run(call, results, when_interrupted(overload));
  for (int i = 0; i < overload.result_count; ++i) fill_tensor(objects[i], results[i].as.tensor);
  // A view shares the memory of a frozen tensor, and must not allow writing to it.
  if (overload.viewed >= 0 && RB_OBJ_FROZEN(call.native(overload.viewed))) rb_obj_freeze(objects[0]);
  return overload.result_count == 1 ? objects[0] : rb_ary_new_from_values(overload.result_count, objects);
}

// Begins a call. Returns its handle.
VALUE start(const BoundCall& call) {
  static const of_class* const work_class = of_class_find("Work");
  of_started_call started = nullptr;
  const auto work = [&] {
    return of_call_start(call.op(), call.values(), static_cast<size_t>(call.overload().parameter_count), &started);
  };
  const of_status status = call.run(true, work, Interrupted::kWaits);
  if (status != OF_OK) of_error_set_caller(call.name());
  check(status);
  const VALUE object = new_object(work_class, started);
  of_started_call_release(started);
  return object;
}

}  // namespace

CallSite site_of(const Function& function, int count, VALUE* values, VALUE receiver) {
  CallSite site = {&function, count, values, Qnil, receiver, false, Qundef};
  if (count > 0 && RB_TYPE_P(values[count - 1], T_HASH) && rb_keyword_given_p()) site.keywords = values[--site.count];
  if (function.function.takes_labels) read_labels(&site);
  return site;
}

of_value target_value(VALUE tensor) {
  rb_check_frozen(tensor);
  of_value value = {};
  value.kind = OF_VALUE_TENSOR;
  value.as.tensor = handle_of(tensor);
  return value;
}

VALUE call_function(const Function& function, int count, VALUE* values, VALUE receiver) {
  BoundCall call(site_of(function, count, values, receiver));
  call.bind();
  if (function.function.starts) {
    const VALUE handle = start(call);
    call.release();
    return handle;
  }
  VALUE result = call.out();
  if (call.overload().written >= 0) {
    result = run_writing(call);
  } else if (result == Qundef) {
    result = run_with_new_results(call);
    if (call.requires_grad()) check(of_tensor_set_requires_grad(handle_of(result), true));
  } else {
    run_into(call, call.outputs());
  }
  call.release();
  return result;
}

VALUE call_on_list(const Function& function, int count, VALUE* values) {
  CallSite site = site_of(function, count, values, Qundef);
  site.in_place = true;
  BoundCall call(site);
  call.bind();
  const int32_t replaced = call.overload().replaced;
  VALUE tensors = call.native(replaced);
  if (!RB_TYPE_P(tensors, T_ARRAY)) tensors = rb_ary_new_from_args(1, tensors);
  for (long i = 0; i < RARRAY_LEN(tensors); ++i) rb_check_frozen(RARRAY_AREF(tensors, i));
  of_value result = call.values()[replaced];
  run(call, &result);
  call.release();
  return tensors;
}

VALUE call_in_place(const Function& function, int count, VALUE* values, VALUE receiver) {
  CallSite site = site_of(function, count, values, receiver);
  site.in_place = true;
  BoundCall call(site);
  call.bind();
  run_into(call, &receiver);
  call.release();
  return receiver;
}

}  // namespace oneflow::ruby
