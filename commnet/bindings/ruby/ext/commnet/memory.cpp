#include "memory.h"

#include <cstring>

#include "buffer.h"
#include "convert.h"
#include "endpoint.h"
#include "errors.h"
#include "lock.h"

namespace commnet::ruby {
namespace {

void mark_memory(void* data) {
  const Memory& memory = *static_cast<Memory*>(data);
  rb_gc_mark(memory.endpoint);
  mark(memory.bytes);
}

const rb_data_type_t kMemoryType = {
    "Commnet::Memory", {mark_memory, RUBY_TYPED_DEFAULT_FREE, nullptr}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE commnet_module, memory_class;

Memory& memory_of(VALUE value) { return *static_cast<Memory*>(rb_check_typeddata(value, &kMemoryType)); }

// Creates an object that has no memory.
VALUE new_object(VALUE endpoint, uint32_t rights) {
  Memory* memory;
  const VALUE self = TypedData_Make_Struct(memory_class, Memory, &kMemoryType, memory);
  memory->self = self;
  memory->endpoint = endpoint;
  memory->rights = rights;
  memory->bytes.object = Qnil;
  return self;
}

void add_to_list(Memory& memory) {
  Endpoint& endpoint = endpoint_of(memory.endpoint);
  memory.next = endpoint.memories;
  if (memory.next) memory.next->previous = &memory;
  endpoint.memories = &memory;
}

void take_from_list(Memory& memory) {
  if (memory.next) memory.next->previous = memory.previous;
  (memory.previous ? memory.previous->next : endpoint_of(memory.endpoint).memories) = memory.next;
  memory.previous = memory.next = nullptr;
}

VALUE release_memory(VALUE self) {
  Memory& memory = memory_of(self);
  if (!memory.handle || !is_usable(endpoint_of(memory.endpoint))) return Qnil;
  if (memory.is_allocated) {
    Buffer& buffer = buffer_of(memory.bytes.object);
    if (buffer.users > 0) raise(CN_INVALID_ARGUMENT, "the memory is in use by an operation or a registration");
    release(buffer);
  }
  retire(memory);
  return Qnil;
}

VALUE registered_p(VALUE self) {
  const Memory& memory = memory_of(self);
  return memory.handle && is_usable(endpoint_of(memory.endpoint)) ? Qtrue : Qfalse;
}

// Returns what holds the bytes; nil once it is released.
VALUE object(VALUE self) { return memory_of(self).bytes.object; }
VALUE bytesize(VALUE self) { return SIZET2NUM(memory_of(self).bytes.size); }
VALUE readable_p(VALUE self) { return memory_of(self).rights & CN_READ ? Qtrue : Qfalse; }
VALUE writable_p(VALUE self) { return memory_of(self).rights & CN_WRITE ? Qtrue : Qfalse; }

VALUE token_bytes(VALUE self, VALUE rights) {
  const Memory& memory = memory_of(self);
  open_endpoint_of(memory.endpoint);
  if (!memory.handle) raise(CN_CLOSED, "the memory was released");
  cn_token token;
  check(cn_memory_token(memory.handle, unsigned32_of("rights", rights), &token));
  return rb_str_new(reinterpret_cast<const char*>(token.bytes), sizeof token.bytes);
}

VALUE size_of_token(VALUE self) {
  const cn_token token = token_of(self);
  return ULL2NUM(cn_token_size(&token));
}

}  // namespace

VALUE new_memory(VALUE endpoint, VALUE object, uint32_t rights) {
  open_endpoint_of(endpoint);
  VALUE self = new_object(endpoint, rights);
  Memory* const memory = &memory_of(self);
  memory->bytes = borrow_for_peers("memory", object, (rights & CN_WRITE) != 0);
  Endpoint& owner = endpoint_of(endpoint);
  const cn_status status = is_usable(owner) ? cn_memory_register(owner.handle, memory->bytes.data, memory->bytes.size,
                                                                 rights, &memory->handle)
                                            : CN_CLOSED;
  if (status != CN_OK) {
    const VALUE text =
        status == CN_CLOSED ? rb_utf8_str_new_cstr("the endpoint is closed") : rb_utf8_str_new_cstr(cn_error());
    give_back(memory->bytes);
    rb_exc_raise(exception_of(status, text));
  }
  add_to_list(*memory);
  RB_GC_GUARD(self);
  return self;
}

VALUE new_allocated_memory(VALUE endpoint, size_t size, uint32_t rights) {
  Endpoint& owner = open_endpoint_of(endpoint);
  VALUE object = new_buffer();
  VALUE self = new_object(endpoint, rights);
  Memory& memory = memory_of(self);
  cn_endpoint* const handle = owner.handle;
  void* data = nullptr;
  cn_status status;
  without_lock([&] { status = cn_memory_alloc(handle, size, rights, &data, &memory.handle); });
  check(status);
  set_memory(buffer_of(object), memory.handle, data, size);
  memory.bytes.object = object;
  memory.bytes.data = static_cast<char*>(data);
  memory.bytes.size = size;
  memory.is_allocated = true;
  add_to_list(memory);
  if (!is_usable(owner)) {
    // Another thread has closed it meanwhile.
    release(buffer_of(object));
    retire(memory);
    raise(CN_CLOSED, "the endpoint is closed");
  }
  RB_GC_GUARD(object);
  RB_GC_GUARD(self);
  return self;
}

void retire(Memory& memory) {
  if (!memory.is_allocated) cn_memory_release(memory.handle);
  memory.handle = nullptr;
  take_from_list(memory);
  give_back(memory.bytes);
}

cn_token token_of(VALUE value) {
  if (!RTEST(rb_obj_is_kind_of(value, rb_const_get(commnet_module, rb_intern("Token")))))
    raise_type("token", "Commnet::Token", value);
  const VALUE bytes = rb_ivar_get(value, rb_intern("@bytes"));
  if (!RB_TYPE_P(bytes, T_STRING) || RSTRING_LEN(bytes) != CN_TOKEN_SIZE)
    raise(CN_INVALID_ARGUMENT, "the token was not initialized");
  cn_token token;
  memcpy(token.bytes, RSTRING_PTR(bytes), sizeof token.bytes);
  return token;
}

void define_memory(VALUE module) {
  commnet_module = module;
  memory_class = rb_define_class_under(module, "Memory", rb_cObject);
  rb_gc_register_mark_object(memory_class);
  rb_undef_alloc_func(memory_class);
  rb_define_method(memory_class, "release", release_memory, 0);
  rb_define_method(memory_class, "registered?", registered_p, 0);
  rb_define_method(memory_class, "object", object, 0);
  rb_define_method(memory_class, "bytesize", bytesize, 0);
  rb_define_method(memory_class, "readable?", readable_p, 0);
  rb_define_method(memory_class, "writable?", writable_p, 0);
  rb_define_private_method(memory_class, "token_bytes", token_bytes, 1);
  const VALUE token = rb_define_class_under(module, "Token", rb_cObject);
  rb_define_const(token, "BYTESIZE", INT2FIX(CN_TOKEN_SIZE));
  rb_define_method(token, "size", size_of_token, 0);
}

}  // namespace commnet::ruby
