#include "message.h"

#include "endpoint.h"
#include "errors.h"
#include "fork.h"

namespace commnet::ruby {
namespace {

// The bytes stay with the library, and count for the peer's window, until load(), which is called before the handler.
struct Message {
  cn_message* handle;
  VALUE data, peer;
  uint32_t handler, channel;
  unsigned fork;
};

void mark_message(void* data) {
  rb_gc_mark(static_cast<Message*>(data)->data);
  rb_gc_mark(static_cast<Message*>(data)->peer);
}

void free_message(void* data) {
  const Message& message = *static_cast<Message*>(data);
  if (message.handle && message.fork == fork_count()) cn_message_release(message.handle);
  xfree(data);
}

const rb_data_type_t kMessageType = {
    "Commnet::Message", {mark_message, free_message, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE message_class;

Message& message_of(VALUE value) { return *static_cast<Message*>(rb_check_typeddata(value, &kMessageType)); }

VALUE data(VALUE self) { return message_of(self).data; }
VALUE peer(VALUE self) { return message_of(self).peer; }
VALUE handler(VALUE self) { return UINT2NUM(message_of(self).handler); }
VALUE channel(VALUE self) { return UINT2NUM(message_of(self).channel); }

// Takes the bytes from the library.
VALUE load(VALUE self) {
  Message& message = message_of(self);
  if (!message.handle) return self;
  message.data = rb_str_new(static_cast<const char*>(cn_message_data(message.handle)),
                            static_cast<long>(cn_message_size(message.handle)));
  cn_message_release(message.handle);
  message.handle = nullptr;
  return self;
}

}  // namespace

VALUE new_message(VALUE endpoint, cn_message* handle) {
  Message* message;
  const VALUE self = TypedData_Make_Struct(message_class, Message, &kMessageType, message);
  message->data = message->peer = Qnil;
  message->handle = handle;
  message->fork = fork_count();
  message->handler = cn_message_handler(handle);
  message->channel = cn_message_channel(handle);
  message->peer = peer_object(endpoint, cn_message_peer(handle));
  return self;
}

void define_message(VALUE module) {
  message_class = rb_define_class_under(module, "Message", rb_cObject);
  rb_gc_register_mark_object(message_class);
  rb_undef_alloc_func(message_class);
  rb_define_method(message_class, "data", data, 0);
  rb_define_method(message_class, "peer", peer, 0);
  rb_define_method(message_class, "handler", handler, 0);
  rb_define_method(message_class, "channel", channel, 0);
  rb_define_private_method(message_class, "load", load, 0);
}

}  // namespace commnet::ruby
