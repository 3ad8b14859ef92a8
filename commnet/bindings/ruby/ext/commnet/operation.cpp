#include "operation.h"

#include "convert.h"
#include "endpoint.h"
#include "errors.h"
#include "queue.h"

namespace commnet::ruby {
namespace {

void mark_operation(void* data) {
  const Operation& operation = *static_cast<Operation*>(data);
  rb_gc_mark(operation.endpoint);
  rb_gc_mark(operation.queue);
  rb_gc_mark(operation.value);
  rb_gc_mark(operation.text);
  mark(operation.bytes);
}

// An operation that goes on is freed only when the process ends, and its endpoint was not closed: its bytes may be in
// use, and its handle is left alone.
void free_operation(void* data) {
  if (static_cast<Operation*>(data)->is_done) cn_operation_release(static_cast<Operation*>(data)->handle);
  xfree(data);
}

const rb_data_type_t kOperationType = {
    "Commnet::Operation", {mark_operation, free_operation, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE operation_class;

void take_from_list(Operation& operation) {
  Endpoint& endpoint = endpoint_of(operation.endpoint);
  if (operation.next) operation.next->previous = operation.previous;
  (operation.previous ? operation.previous->next : endpoint.operations) = operation.next;
  operation.previous = operation.next = nullptr;
}

VALUE done_p(VALUE self) { return operation_of(self).is_done ? Qtrue : Qfalse; }

VALUE cancel(VALUE self) {
  const Operation& operation = operation_of(self);
  if (!operation.is_done && is_usable(endpoint_of(operation.endpoint))) cn_cancel(operation.handle);
  return Qnil;
}

// Makes the end of the operation come out of Endpoint#take_event.
VALUE watch(VALUE self) {
  operation_of(self).is_watched = true;
  return Qnil;
}

VALUE endpoint(VALUE self) { return operation_of(self).endpoint; }

// Returns the exception of an operation that has failed; else nil.
VALUE error(VALUE self) {
  const Operation& operation = operation_of(self);
  return operation.is_done && operation.status != CN_OK ? exception_of(operation.status, operation.text) : Qnil;
}

VALUE result(VALUE self) {
  const Operation& operation = operation_of(self);
  return operation.is_done && operation.status == CN_OK ? operation.value : Qnil;
}

}  // namespace

Operation& operation_of(VALUE value) { return *static_cast<Operation*>(rb_check_typeddata(value, &kOperationType)); }

VALUE new_operation(VALUE endpoint) {
  Operation* operation;
  const VALUE self = TypedData_Make_Struct(operation_class, Operation, &kOperationType, operation);
  *operation = {};
  operation->self = self;
  operation->endpoint = endpoint;
  operation->queue = operation->value = operation->text = operation->bytes.object = Qnil;
  operation->is_done = true;  // until it begins
  return self;
}

Manner manner_of(VALUE queue, VALUE timeout) {
  return {queue, NIL_P(queue) ? nullptr : queue_handle(queue), timeout_of(timeout)};
}

cn_call call_of(Operation& operation, const Manner& manner) {
  operation.queue = manner.queue;
  cn_call call = {};
  call.struct_size = sizeof call;
  call.flags = CN_EVENT;
  call.user = &operation;
  call.queue = manner.native_queue;
  call.timeout_ms = manner.timeout_ms;
  return call;
}

void keep_pending(Operation& operation) {
  Endpoint& endpoint = endpoint_of(operation.endpoint);
  operation.is_done = false;
  operation.next = endpoint.operations;
  if (operation.next) operation.next->previous = &operation;
  endpoint.operations = &operation;
}

void raise_not_begun(Operation& operation, cn_status status) {
  const VALUE text = rb_utf8_str_new_cstr(cn_error());
  give_back(operation.bytes);
  rb_exc_raise(exception_of(status, text));
}

VALUE settle(Operation& operation, cn_status status, const char* error) {
  VALUE self = operation.self;
  operation.status = status;
  if (status != CN_OK) operation.text = rb_utf8_str_new_cstr(error ? error : "");
  if (operation.is_connection && status == CN_OK)
    operation.value = peer_object(operation.endpoint, cn_operation_peer(operation.handle));
  give_back(operation.bytes);
  take_from_list(operation);
  operation.queue = Qnil;
  operation.is_done = true;
  RB_GC_GUARD(self);
  return operation.is_watched ? self : Qnil;
}

void define_operation(VALUE module) {
  operation_class = rb_define_class_under(module, "Operation", rb_cObject);
  rb_gc_register_mark_object(operation_class);
  rb_undef_alloc_func(operation_class);
  rb_define_method(operation_class, "done?", done_p, 0);
  rb_define_method(operation_class, "cancel", cancel, 0);
  rb_define_method(operation_class, "error", error, 0);
  rb_define_method(operation_class, "endpoint", endpoint, 0);
  rb_define_private_method(operation_class, "watch", watch, 0);
  rb_define_private_method(operation_class, "result", result, 0);
}

}  // namespace commnet::ruby
