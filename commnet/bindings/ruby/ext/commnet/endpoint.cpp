#include "endpoint.h"

#include <fcntl.h>
#include <poll.h>
#include <ruby/thread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "convert.h"
#include "errors.h"
#include "fork.h"
#include "joining.h"
#include "lock.h"
#include "memory.h"
#include "message.h"
#include "operation.h"
#include "peer.h"
#include "queue.h"

namespace commnet::ruby {
namespace {

// After so many events that nobody waits for, other threads of Ruby have a turn.
constexpr int kMostEventsAtOnce = 256;

void mark_endpoint(void* data) {
  const Endpoint& endpoint = *static_cast<Endpoint*>(data);
  rb_gc_mark(endpoint.peers);
  rb_gc_mark(endpoint.joinings);
  for (const Operation* each = endpoint.operations; each; each = each->next) rb_gc_mark(each->self);
  for (const Memory* each = endpoint.memories; each; each = each->next) rb_gc_mark(each->self);
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

// An open endpoint is kept by Endpoint.open_endpoints. Ruby closes it before it exits; if not, peers may still access
// its memory, and it is left to the operating system.
void free_endpoint(void* data) {
  Endpoint& endpoint = *static_cast<Endpoint*>(data);
  close_descriptor(endpoint.events);
  close_descriptor(endpoint.wake);
  xfree(data);
}

const rb_data_type_t kEndpointType = {
    "Commnet::Endpoint", {mark_endpoint, free_endpoint, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE allocate(VALUE type) {
  Endpoint* endpoint;
  const VALUE self = TypedData_Make_Struct(type, Endpoint, &kEndpointType, endpoint);
  endpoint->events = endpoint->wake = -1;
  endpoint->peers = endpoint->joinings = Qnil;
  return self;
}

// Returns a copy of a String, with a null byte, which must be freed; NULL for nil.
char* copy_of(VALUE string) {
  if (NIL_P(string)) return nullptr;
  const size_t size = RSTRING_LEN(string);
  char* const copy = static_cast<char*>(calloc(size + 1, 1));
  if (copy) memcpy(copy, RSTRING_PTR(string), size);
  return copy;
}

// ------------------------------------------------------------------------------------------------ life

// start(name, secret, transports, listen, [busy_poll, peer_timeout, streams, receive_window, send_limit, message_limit,
// linger])
VALUE start(VALUE self, VALUE name, VALUE secret, VALUE transports, VALUE listen, VALUE numbers) {
  Endpoint& endpoint = endpoint_of(self);
  if (endpoint.handle) raise(CN_INVALID_ARGUMENT, "the endpoint was initialized before");
  const auto number = [&](int index, const char* what, uint64_t most) {
    const VALUE value = rb_ary_entry(numbers, index);
    return NIL_P(value) ? 0 : unsigned_of(what, value, most);
  };
  cn_endpoint_options options = {};
  options.struct_size = sizeof options;
  text_of("name", name);
  text_of("transports", transports);
  text_of("listen", listen);
  if (!NIL_P(secret)) require_string("secret", secret);
  options.busy_poll_us = duration_of("busy_poll", rb_ary_entry(numbers, 0), 1'000'000);
  options.peer_timeout_ms = duration_of("peer_timeout", rb_ary_entry(numbers, 1), 1000);
  options.streams = static_cast<uint32_t>(number(2, "streams", UINT32_MAX));
  options.receive_window = number(3, "receive_window", UINT64_MAX);
  options.send_limit = number(4, "send_limit", UINT64_MAX);
  options.message_limit = number(5, "message_limit", UINT64_MAX);
  options.linger_ms = duration_of("linger", rb_ary_entry(numbers, 6), 1000);
  endpoint.peers = rb_hash_new();
  endpoint.joinings = rb_ary_new();
  endpoint.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (endpoint.wake < 0) raise(CN_SYSTEM_ERROR, "eventfd: %s", strerror(errno));
  // Without Ruby's lock, no address in an object may be used (see borrowed.h). No function raises until they are freed.
  char* const copies[] = {copy_of(name), copy_of(transports), copy_of(listen), copy_of(secret)};
  options.name = copies[0];
  options.transports = copies[1];
  options.listen = copies[2];
  options.secret = copies[3];
  if (copies[3]) options.secret_size = RSTRING_LEN(secret);
  // Errors are kept for each thread; this is the thread in both cases.
  cn_status status;
  without_lock([&] { status = cn_endpoint_create(&options, &endpoint.handle); });
  for (char* const copy : copies) free(copy);
  check(status);
  endpoint.fork = fork_count();
  endpoint.is_open = true;
  endpoint.events = fcntl(cn_event_descriptor(endpoint.handle), F_DUPFD_CLOEXEC, 0);
  return self;
}

void wake_up(void* data) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(static_cast<Endpoint*>(data)->wake, &one, sizeof one);
}

// Closes the endpoint, and sets @unsent to what could not be sent. Returns the operations that somebody waits for; nil
// if it was closed before.
VALUE shut(VALUE self) {
  Endpoint& endpoint = endpoint_of(self);
  if (!is_usable(endpoint)) return Qnil;
  const VALUE watched = rb_ary_new();
  endpoint.is_open = false;
  wake_up(&endpoint);
  while (endpoint.memories) retire(*endpoint.memories);
  const VALUE joinings = rb_ary_dup(endpoint.joinings);
  for (long i = 0; i < RARRAY_LEN(joinings); ++i) await_begin(rb_ary_entry(joinings, i));
  // The error is that of the thread which has closed it.
  char* unsent = nullptr;
  without_lock([&] {
    if (cn_endpoint_close(endpoint.handle) != CN_OK) unsent = strdup(cn_error());
  });
  rb_ivar_set(self, rb_intern("@unsent"), unsent ? rb_utf8_str_new_cstr(unsent) : Qnil);
  free(unsent);
  for (long i = 0; i < RARRAY_LEN(joinings); ++i) await_end(rb_ary_entry(joinings, i));
  endpoint.handle = nullptr;
  while (endpoint.operations) {
    Operation& operation = *endpoint.operations;
    const cn_status status = cn_wait(operation.handle, 0);
    const bool goes_on = !cn_test(operation.handle, nullptr);
    const VALUE object =
        settle(operation, goes_on ? CN_CANCELLED : status, goes_on ? "the endpoint was closed" : cn_error());
    if (!NIL_P(object)) rb_ary_push(watched, object);
  }
  return watched;
}

VALUE closed_p(VALUE self) { return is_usable(endpoint_of(self)) ? Qfalse : Qtrue; }

// Returns whether the endpoint belongs to a parent of this process.
VALUE foreign_p(VALUE self) {
  const Endpoint& endpoint = endpoint_of(self);
  return endpoint.is_open && endpoint.fork != fork_count() ? Qtrue : Qfalse;
}

VALUE native_name(VALUE self) { return rb_utf8_str_new_cstr(cn_endpoint_name(open_endpoint_of(self).handle)); }
VALUE native_address(VALUE self) { return rb_utf8_str_new_cstr(cn_endpoint_address(open_endpoint_of(self).handle)); }

// ------------------------------------------------------------------------------------------------ calls

VALUE begin_connect(VALUE self, VALUE address, VALUE timeout) {
  open_endpoint_of(self);
  require_string("address", address);
  const char* const text = text_of("address", address);
  const Manner manner = manner_of(Qnil, timeout);
  const VALUE object = new_operation(self);
  operation_of(object).is_connection = true;
  begin_operation(object, manner, [&](const cn_call* call, cn_operation** handle) {
    return cn_connect(open_endpoint_of(self).handle, text, call, handle);
  });
  RB_GC_GUARD(address);
  return object;
}

// join_job(rank, size, meeting, timeout) waits, and returns the Peers by rank.
VALUE join_job(VALUE self, VALUE rank, VALUE size, VALUE meeting, VALUE timeout) {
  Endpoint& endpoint = open_endpoint_of(self);
  cn_job_options options = {};
  options.struct_size = sizeof options;
  options.rank = unsigned32_of("rank", rank);
  options.size = unsigned32_of("size", size);
  options.timeout_ms = timeout_of(timeout);
  const VALUE joining = new_joining(endpoint.handle, options, text_of("meeting", meeting));
  rb_ary_push(endpoint.joinings, joining);
  begin(joining);
  // If it is interrupted, the meeting goes on until the endpoint is closed.
  wait(joining);
  rb_ary_delete(endpoint.joinings, joining);
  if (!is_usable(endpoint)) raise(CN_CANCELLED, "the endpoint was closed");
  check_end(joining);
  return peers_of(joining, self);
}

VALUE find_peer(VALUE self, VALUE name) {
  Endpoint& endpoint = open_endpoint_of(self);
  require_string("name", name);
  cn_peer* const peer = cn_find_peer(endpoint.handle, text_of("name", name));
  return peer ? peer_object(self, peer) : Qnil;
}

VALUE receive(VALUE self, VALUE number, VALUE receives) {
  Endpoint& endpoint = open_endpoint_of(self);
  const uint32_t handler = unsigned32_of("number", number);
  check(RTEST(receives) ? cn_set_event_handler(endpoint.handle, handler, nullptr)
                        : cn_set_handler(endpoint.handle, handler, nullptr, nullptr));
  return Qnil;
}

VALUE watch_peers(VALUE self) {
  check(cn_watch_peers(open_endpoint_of(self).handle, true));
  return Qnil;
}

VALUE register_memory(VALUE self, VALUE object, VALUE rights) {
  return new_memory(self, object, unsigned32_of("rights", rights));
}

VALUE allocate_memory(VALUE self, VALUE size, VALUE rights) {
  return new_allocated_memory(self, unsigned_of("size", size, SIZE_MAX), unsigned32_of("rights", rights));
}

VALUE queue(VALUE self) { return new_queue(self); }

// ------------------------------------------------------------------------------------------------ events

// Takes the next event: an Operation that somebody waits for, a Message, or [:joined, Peer] and [:left, Peer, error].
// Returns true if there are more, and nil if there are none.
VALUE take_event(VALUE self) {
  Endpoint& endpoint = endpoint_of(self);
  for (int count = 0; count < kMostEventsAtOnce; ++count) {
    if (!is_usable(endpoint)) return Qnil;
    cn_event event = {};
    event.struct_size = sizeof event;
    if (cn_next_event(endpoint.handle, &event, 0) != CN_OK) return Qnil;
    switch (event.kind) {
      case CN_EVENT_DONE: {
        const VALUE watched = settle(*static_cast<Operation*>(event.user), event.status, event.error);
        if (!NIL_P(watched)) return watched;
        break;
      }
      case CN_EVENT_MESSAGE:
        return new_message(self, event.message);
      case CN_EVENT_JOINED:
        return rb_ary_new_from_args(2, ID2SYM(rb_intern("joined")), peer_object(self, event.peer));
      case CN_EVENT_LEFT: {
        const VALUE text = rb_utf8_str_new_cstr(event.error ? event.error : "");
        const VALUE error = exception_of(event.status == CN_OK ? CN_PEER_LOST : event.status, text);
        return rb_ary_new_from_args(3, ID2SYM(rb_intern("left")), peer_object(self, event.peer), error);
      }
    }
  }
  return Qtrue;
}

// Waits for events, for the end of the endpoint or for an interrupt, for at most `seconds`; nil: without a limit.
VALUE await_event(VALUE self, VALUE seconds) {
  struct Wait {
    pollfd descriptors[2];
    int timeout_ms;
  };
  Endpoint& endpoint = endpoint_of(self);
  if (!is_usable(endpoint)) return Qnil;
  const uint32_t limit = timeout_of(seconds);
  Wait wait = {{{endpoint.events, POLLIN, 0}, {endpoint.wake, POLLIN, 0}},
               limit == 0 ? -1 : static_cast<int>(limit > INT32_MAX ? INT32_MAX : limit)};
  const auto run = [](void* context) -> void* {
    Wait& own = *static_cast<Wait*>(context);
    poll(own.descriptors, 2, own.timeout_ms);
    return nullptr;
  };
  rb_nogvl(run, &wait, wake_up, &endpoint, RB_NOGVL_UBF_ASYNC_SAFE);
  uint64_t count;
  [[maybe_unused]] const ssize_t got = read(endpoint.wake, &count, sizeof count);
  RB_GC_GUARD(self);
  return Qnil;
}

}  // namespace

Endpoint& endpoint_of(VALUE value) { return *static_cast<Endpoint*>(rb_check_typeddata(value, &kEndpointType)); }

bool is_usable(const Endpoint& endpoint) { return endpoint.is_open && endpoint.fork == fork_count(); }

Endpoint& open_endpoint_of(VALUE value) {
  Endpoint& endpoint = endpoint_of(value);
  if (!endpoint.is_open) raise(CN_CLOSED, "the endpoint is closed");
  if (endpoint.fork != fork_count())
    raise(CN_CLOSED, "the endpoint belongs to the parent of this process: create another one after fork");
  return endpoint;
}

VALUE peer_object(VALUE self, cn_peer* peer) {
  const VALUE peers = endpoint_of(self).peers, key = ULL2NUM(reinterpret_cast<uintptr_t>(peer));
  VALUE object = rb_hash_lookup(peers, key);
  if (NIL_P(object)) rb_hash_aset(peers, key, object = new_peer(self, peer));
  return object;
}

void define_endpoint(VALUE module) {
  const VALUE type = rb_define_class_under(module, "Endpoint", rb_cObject);
  rb_define_alloc_func(type, allocate);
  rb_define_method(type, "closed?", closed_p, 0);
  rb_define_method(type, "queue", queue, 0);
  rb_define_private_method(type, "start", start, 5);
  rb_define_private_method(type, "shut", shut, 0);
  rb_define_private_method(type, "foreign?", foreign_p, 0);
  rb_define_private_method(type, "native_name", native_name, 0);
  rb_define_private_method(type, "native_address", native_address, 0);
  rb_define_private_method(type, "start_connect", begin_connect, 2);
  rb_define_private_method(type, "join_job", join_job, 4);
  rb_define_private_method(type, "find_peer", find_peer, 1);
  rb_define_private_method(type, "receive", receive, 2);
  rb_define_private_method(type, "watch_peers", watch_peers, 0);
  rb_define_private_method(type, "register_memory", register_memory, 2);
  rb_define_private_method(type, "allocate_memory", allocate_memory, 2);
  rb_define_private_method(type, "take_event", take_event, 0);
  rb_define_private_method(type, "await_event", await_event, 1);
}

}  // namespace commnet::ruby
