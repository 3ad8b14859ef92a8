#include "peer.h"

#include "borrowed.h"
#include "convert.h"
#include "endpoint.h"
#include "errors.h"
#include "memory.h"
#include "operation.h"

namespace commnet::ruby {
namespace {

struct Peer {
  cn_peer* handle;  // valid while the endpoint is open
  VALUE endpoint, name;
};

void mark_peer(void* data) {
  rb_gc_mark(static_cast<Peer*>(data)->endpoint);
  rb_gc_mark(static_cast<Peer*>(data)->name);
}

const rb_data_type_t kPeerType = {
    "Commnet::Peer", {mark_peer, RUBY_TYPED_DEFAULT_FREE, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE peer_class;

Peer& peer_of(VALUE value) { return *static_cast<Peer*>(rb_check_typeddata(value, &kPeerType)); }

Peer& usable_peer_of(VALUE value) {
  Peer& peer = peer_of(value);
  open_endpoint_of(peer.endpoint);
  return peer;
}

VALUE name(VALUE self) { return peer_of(self).name; }
VALUE endpoint(VALUE self) { return peer_of(self).endpoint; }

VALUE connected_p(VALUE self) {
  const Peer& peer = peer_of(self);
  return is_usable(endpoint_of(peer.endpoint)) && cn_peer_is_connected(peer.handle) ? Qtrue : Qfalse;
}

// Returns the name of the transport; nil without a connection.
VALUE transport(VALUE self) {
  if (!RTEST(connected_p(self))) return Qnil;
  return rb_utf8_str_new_cstr(cn_peer_transport(peer_of(self).handle));
}

VALUE disconnect(VALUE self) {
  check(cn_disconnect(usable_peer_of(self).handle));
  return Qnil;
}

VALUE send(VALUE self, VALUE data, VALUE handler, VALUE channel, VALUE queue, VALUE timeout) {
  const Peer& peer = usable_peer_of(self);
  const uint32_t number = unsigned32_of("handler", handler), order = unsigned32_of("channel", channel);
  const Manner manner = manner_of(queue, timeout);
  const VALUE object = new_operation(peer.endpoint);
  Operation& operation = operation_of(object);
  operation.bytes = borrow_for_reading("data", data);
  return begin_operation(object, manner, [&](const cn_call* call, cn_operation** handle) {
    return cn_send(peer.handle, number, order, operation.bytes.data, operation.bytes.size, call, handle);
  });
}

VALUE write(VALUE self, VALUE token, VALUE data, VALUE offset, VALUE queue, VALUE timeout) {
  const Peer& peer = usable_peer_of(self);
  const cn_token place = token_of(token);
  const uint64_t start = unsigned_of("offset", offset);
  const Manner manner = manner_of(queue, timeout);
  const VALUE object = new_operation(peer.endpoint);
  Operation& operation = operation_of(object);
  operation.bytes = borrow_for_reading("data", data);
  return begin_operation(object, manner, [&](const cn_call* call, cn_operation** handle) {
    return cn_write(peer.handle, &place, start, operation.bytes.data, operation.bytes.size, call, handle);
  });
}

// Creates the String that a read fills. NoMemoryError, which is no StandardError, becomes OutOfMemory.
VALUE new_target(uint64_t size) {
  if (size > static_cast<uint64_t>(LONG_MAX) / 2) raise(CN_OUT_OF_MEMORY, "a String of that size is not possible");
  int state = 0;
  const VALUE target = rb_protect([](VALUE count) { return rb_str_new(nullptr, static_cast<long>(count)); },
                                  static_cast<VALUE>(size), &state);
  if (!state) return target;
  if (!RTEST(rb_obj_is_kind_of(rb_errinfo(), rb_eNoMemError))) rb_jump_tag(state);
  rb_set_errinfo(Qnil);
  raise(CN_OUT_OF_MEMORY, "a String of %llu bytes needs more memory than there is",
        static_cast<unsigned long long>(size));
}

VALUE read(int count, VALUE* values, VALUE self) {
  rb_check_arity(count, 6, 6);
  const VALUE size = values[1], into = values[3];
  const Peer& peer = usable_peer_of(self);
  const cn_token place = token_of(values[0]);
  const uint64_t start = unsigned_of("offset", values[2]);
  const Manner manner = manner_of(values[4], values[5]);
  const VALUE object = new_operation(peer.endpoint);
  Operation& operation = operation_of(object);
  uint64_t bytes = 0;
  if (NIL_P(into)) {
    const uint64_t whole = cn_token_size(&place);
    bytes = NIL_P(size) ? (start < whole ? whole - start : 0) : unsigned_of("size", size);
    // A size that the token excludes would need memory for nothing.
    if (start > whole || bytes > whole - start)
      raise(CN_OUT_OF_RANGE, "a read of %llu bytes at %llu is outside of a memory of %llu bytes",
            static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(start),
            static_cast<unsigned long long>(whole));
    operation.value = new_target(bytes);
  } else {
    operation.value = into;
    bytes = NIL_P(size) ? 0 : unsigned_of("size", size);
  }
  operation.bytes = borrow_for_writing("into", operation.value);
  if (!NIL_P(into) && NIL_P(size)) bytes = operation.bytes.size;
  if (bytes > operation.bytes.size) {
    const size_t room = operation.bytes.size;
    give_back(operation.bytes);
    raise(CN_OUT_OF_RANGE, "size is %llu, but the target has %zu bytes", static_cast<unsigned long long>(bytes), room);
  }
  return begin_operation(object, manner, [&](const cn_call* call, cn_operation** handle) {
    return cn_read(peer.handle, &place, start, operation.bytes.data, bytes, call, handle);
  });
}

}  // namespace

VALUE new_peer(VALUE endpoint, cn_peer* handle) {
  Peer* peer;
  const VALUE self = TypedData_Make_Struct(peer_class, Peer, &kPeerType, peer);
  peer->handle = handle;
  peer->endpoint = endpoint;
  peer->name = Qnil;
  peer->name = rb_obj_freeze(rb_utf8_str_new_cstr(cn_peer_name(handle)));
  return self;
}

void define_peer(VALUE module) {
  peer_class = rb_define_class_under(module, "Peer", rb_cObject);
  rb_gc_register_mark_object(peer_class);
  rb_undef_alloc_func(peer_class);
  rb_define_method(peer_class, "name", name, 0);
  rb_define_method(peer_class, "endpoint", endpoint, 0);
  rb_define_method(peer_class, "connected?", connected_p, 0);
  rb_define_method(peer_class, "transport", transport, 0);
  rb_define_method(peer_class, "disconnect", disconnect, 0);
  rb_define_private_method(peer_class, "begin_send", send, 5);
  rb_define_private_method(peer_class, "begin_write", write, 5);
  rb_define_private_method(peer_class, "begin_read", read, -1);
}

}  // namespace commnet::ruby
