// Commnet::Operation: a connection, a send, a read, a write or a mark.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

#include "borrowed.h"

namespace commnet::ruby {

// The memory of an operation, whose address is the `user` of its event. Guarded by Ruby's lock.
struct Operation {
  cn_operation* handle;
  VALUE self, endpoint, queue, value;
  Borrowed bytes;
  bool is_connection, is_done, is_watched;
  cn_status status;
  VALUE text;
  Operation *previous, *next;  // in the list of the endpoint
};

// How an operation is done, from the arguments `queue` and `timeout` of Ruby.
struct Manner {
  VALUE queue;
  cn_queue* native_queue;
  uint32_t timeout_ms;
};

// Raises an error unless the queue is nil or a Queue, and the timeout nil or a number.
Manner manner_of(VALUE queue, VALUE timeout);

// Creates the object of an operation that has not begun.
VALUE new_operation(VALUE endpoint);
Operation& operation_of(VALUE value);

// Begins an operation by start(call, &handle), which must not call Ruby. The endpoint then keeps it until its end.
// Raises the error if it cannot begin.
template <class Start>
VALUE begin_operation(VALUE self, const Manner& manner, const Start& start);

// Takes the result of an operation that has ended. Returns its object if somebody waits for it, else nil.
VALUE settle(Operation& operation, cn_status status, const char* error);

// Defines the class.
void define_operation(VALUE module);

// -- implementation

cn_call call_of(Operation& operation, const Manner& manner);
void keep_pending(Operation& operation);
[[noreturn]] void raise_not_begun(Operation& operation, cn_status status);

template <class Start>
VALUE begin_operation(VALUE self, const Manner& manner, const Start& start) {
  Operation& operation = operation_of(self);
  const cn_call call = call_of(operation, manner);
  const cn_status status = start(&call, &operation.handle);
  if (status != CN_OK) raise_not_begun(operation, status);
  keep_pending(operation);
  RB_GC_GUARD(self);
  return self;
}

}  // namespace commnet::ruby
