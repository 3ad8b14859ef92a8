// The entry point of the extension: defines what is not written in Ruby.

#include <commnet/commnet.h>
#include <ruby.h>

#include "borrowed.h"
#include "buffer.h"
#include "endpoint.h"
#include "errors.h"
#include "fork.h"
#include "joining.h"
#include "memory.h"
#include "message.h"
#include "operation.h"
#include "peer.h"
#include "queue.h"

extern "C" __attribute__((visibility("default"))) void Init_commnet() {
  using namespace commnet::ruby;
  watch_forks();
  const VALUE module = rb_define_module("Commnet");
  rb_define_const(module, "LIBRARY_VERSION", rb_obj_freeze(rb_utf8_str_new_cstr(cn_version())));
  define_errors(module);
  define_buffer(module);
  find_address_class(module);
  define_joining(module);
  define_memory(module);
  define_message(module);
  define_operation(module);
  define_queue(module);
  define_peer(module);
  define_endpoint(module);
}
