#include "joining.h"

#include <poll.h>
#include <pthread.h>
#include <ruby/io.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "endpoint.h"
#include "errors.h"

namespace commnet::ruby {
namespace {

// More are refused by cn_join().
constexpr uint32_t kMostPeers = 1 << 20;

// Written by the thread until it sets `ended`, and not after.
struct Joining {
  cn_endpoint* endpoint;
  cn_job_options options;
  char* meeting;
  std::atomic<bool> begins;
  int ended;  // an eventfd
  cn_status status;
  char* text;
  cn_peer** peers;
  uint32_t count;
};

void set(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event, &one, sizeof one);
}

void* run(void* data) {
  Joining& joining = *static_cast<Joining*>(data);
  uint32_t rank = 0, size = joining.options.size;
  cn_status status = size == 0 ? cn_job_of_environment(&rank, &size) : CN_OK;
  joining.count = std::min(size, kMostPeers);
  joining.peers = static_cast<cn_peer**>(calloc(joining.count + 1, sizeof *joining.peers));
  joining.begins = true;
  if (status == CN_OK) status = cn_join(joining.endpoint, &joining.options, joining.peers, joining.count);
  joining.status = status;
  if (status != CN_OK) joining.text = strdup(cn_error());
  set(joining.ended);
  return nullptr;
}

// The endpoint keeps the object until the end.
void free_joining(void* data) {
  Joining& joining = *static_cast<Joining*>(data);
  if (joining.ended >= 0) close(joining.ended);
  free(joining.meeting);
  free(joining.text);
  free(joining.peers);
  xfree(data);
}

const rb_data_type_t kJoiningType = {
    "Commnet::Joining", {nullptr, free_joining, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE joining_class;

Joining& joining_of(VALUE value) { return *static_cast<Joining*>(rb_check_typeddata(value, &kJoiningType)); }

}  // namespace

VALUE new_joining(cn_endpoint* endpoint, const cn_job_options& options, const char* meeting) {
  Joining* joining;
  const VALUE self = TypedData_Make_Struct(joining_class, Joining, &kJoiningType, joining);
  joining->endpoint = endpoint;
  joining->options = options;
  joining->meeting = meeting ? strdup(meeting) : nullptr;
  joining->options.meeting = joining->meeting;
  joining->ended = eventfd(0, EFD_CLOEXEC);
  if (joining->ended < 0) raise(CN_SYSTEM_ERROR, "eventfd: %s", strerror(errno));
  return self;
}

void begin(VALUE self) {
  Joining& joining = joining_of(self);
  // Signals are for the threads of Ruby.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, run, &joining);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) {
    pthread_detach(thread);
    return;
  }
  joining.begins = true;
  joining.status = CN_SYSTEM_ERROR;
  joining.text = strdup(strerror(error));
  set(joining.ended);
}

void await_begin(VALUE self) {
  const Joining& joining = joining_of(self);
  while (!joining.begins) usleep(100);
}

void await_end(VALUE self) {
  pollfd descriptor = {joining_of(self).ended, POLLIN, 0};
  while (poll(&descriptor, 1, -1) < 0 && errno == EINTR) continue;
}

void wait(VALUE self) {
  rb_wait_for_single_fd(joining_of(self).ended, RB_WAITFD_IN, nullptr);
  RB_GC_GUARD(self);
}

void check_end(VALUE self) {
  const Joining& joining = joining_of(self);
  if (joining.status != CN_OK) raise(joining.status, "%s", joining.text ? joining.text : "");
}

VALUE peers_of(VALUE self, VALUE endpoint) {
  const Joining& joining = joining_of(self);
  const VALUE peers = rb_ary_new_capa(joining.count);
  for (uint32_t rank = 0; rank < joining.count; ++rank)
    rb_ary_push(peers, joining.peers[rank] ? peer_object(endpoint, joining.peers[rank]) : Qnil);
  RB_GC_GUARD(self);
  return peers;
}

void define_joining(VALUE module) {
  joining_class = rb_define_class_under(module, "Joining", rb_cObject);
  rb_gc_register_mark_object(joining_class);
  rb_undef_alloc_func(joining_class);
  rb_funcall(module, rb_intern("private_constant"), 1, ID2SYM(rb_intern("Joining")));
}

}  // namespace commnet::ruby
