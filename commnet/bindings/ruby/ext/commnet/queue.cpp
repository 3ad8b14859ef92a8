#include "queue.h"

#include "endpoint.h"
#include "errors.h"
#include "fork.h"
#include "operation.h"

namespace commnet::ruby {
namespace {

struct Queue {
  cn_queue* handle;
  VALUE endpoint;
  unsigned fork;
};

void mark_queue(void* data) { rb_gc_mark(static_cast<Queue*>(data)->endpoint); }

void free_queue(void* data) {
  const Queue& queue = *static_cast<Queue*>(data);
  if (queue.fork == fork_count()) cn_queue_release(queue.handle);
  xfree(data);
}

const rb_data_type_t kQueueType = {
    "Commnet::Queue", {mark_queue, free_queue, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE queue_class;

Queue& queue_of(VALUE value) { return *static_cast<Queue*>(rb_check_typeddata(value, &kQueueType)); }

VALUE mark_end(VALUE self, VALUE timeout) {
  const Queue& queue = queue_of(self);
  open_endpoint_of(queue.endpoint);
  const Manner manner = manner_of(self, timeout);
  return begin_operation(new_operation(queue.endpoint), manner, [&](const cn_call* call, cn_operation** handle) {
    return cn_queue_mark(queue.handle, call, handle);
  });
}

}  // namespace

cn_queue* queue_handle(VALUE value) {
  if (!rb_typeddata_is_kind_of(value, &kQueueType)) raise_type("queue", "Commnet::Queue", value);
  return queue_of(value).handle;
}

VALUE new_queue(VALUE endpoint) {
  Queue* queue;
  const VALUE self = TypedData_Make_Struct(queue_class, Queue, &kQueueType, queue);
  queue->endpoint = endpoint;
  queue->fork = fork_count();
  check(cn_queue_create(open_endpoint_of(endpoint).handle, &queue->handle));
  return self;
}

void define_queue(VALUE module) {
  queue_class = rb_define_class_under(module, "Queue", rb_cObject);
  rb_gc_register_mark_object(queue_class);
  rb_undef_alloc_func(queue_class);
  rb_define_private_method(queue_class, "begin_mark", mark_end, 1);
}

}  // namespace commnet::ruby
