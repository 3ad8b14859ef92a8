#include "borrowed.h"

#include <cstdlib>
#include <cstring>

#include "buffer.h"
#include "convert.h"
#include "errors.h"

#if __has_include(<ruby/io/buffer.h>)
#include <ruby/io/buffer.h>
#define COMMNET_HAS_IO_BUFFER
#endif

namespace commnet::ruby {
namespace {

constexpr const char* kKinds = "String, Commnet::Buffer, IO::Buffer, Fiddle::Pointer or Commnet::Address";

VALUE commnet_module;

VALUE address_class() { return rb_const_get(commnet_module, rb_intern("Address")); }

Borrowed plain(VALUE object, void* data, size_t size) {
  return {object, static_cast<char*>(data), size, Borrowed::Lock::kNone, nullptr};
}

bool is_embedded(VALUE string) { return !RB_FL_TEST_RAW(string, RSTRING_NOEMBED); }

// Lets the library use a copy of the bytes. Returns false without memory.
bool stage(Borrowed& borrowed) {
  borrowed.staged = static_cast<char*>(malloc(borrowed.size + 1));
  if (!borrowed.staged) return false;
  memcpy(borrowed.staged, borrowed.data, borrowed.size);
  borrowed.data = borrowed.staged;
  return true;
}

[[noreturn]] void raise_no_memory() { raise(CN_OUT_OF_MEMORY, "not enough memory"); }

// Borrows memory of another library: an Address, or an object that converts to one.
Borrowed borrow_address(const char* name, VALUE object, bool is_changed) {
  VALUE address = rb_check_funcall(object, rb_intern("to_commnet_address"), 0, nullptr);
  if (address == Qundef) address = rb_funcall(address_class(), rb_intern("from"), 1, object);
  if (!RTEST(rb_obj_is_kind_of(address, address_class()))) raise_type(name, kKinds, object);
  if (is_changed && RTEST(rb_ivar_get(address, rb_intern("@readonly"))))
    raise(CN_INVALID_ARGUMENT, "%s is read-only memory", name);
  const uint64_t number = unsigned_of("address", rb_ivar_get(address, rb_intern("@address")), UINTPTR_MAX);
  const uint64_t size = unsigned_of("size", rb_ivar_get(address, rb_intern("@bytesize")), PTRDIFF_MAX);
  return plain(address, reinterpret_cast<void*>(number), size);
}

#ifdef COMMNET_HAS_IO_BUFFER
bool is_io_buffer(VALUE object) { return RTEST(rb_obj_is_kind_of(object, rb_cIOBuffer)); }

bool asks(VALUE object, const char* question) { return RTEST(rb_funcall(object, rb_intern(question), 0)); }

// A slice, or a buffer over a String, dangles if what is below it is freed or changed, which no lock prevents.
bool owns_memory(VALUE object) { return asks(object, "internal?") || asks(object, "mapped?"); }

Borrowed lock_io_buffer(const char* name, VALUE object, bool is_changed) {
  if (!owns_memory(object))
    raise(CN_INVALID_ARGUMENT, "%s must be an IO::Buffer with memory of its own: no slice, and none of a String", name);
  if (is_changed && asks(object, "readonly?")) raise(CN_INVALID_ARGUMENT, "%s is a read-only IO::Buffer", name);
  if (asks(object, "locked?")) raise(CN_INVALID_ARGUMENT, "%s is a locked IO::Buffer", name);
  Borrowed borrowed = plain(object, nullptr, 0);
  void* data = nullptr;
  rb_io_buffer_get_bytes(object, &data, &borrowed.size);
  borrowed.data = static_cast<char*>(data);
  rb_io_buffer_lock(object);
  borrowed.lock = Borrowed::Lock::kIoBuffer;
  return borrowed;
}

Borrowed read_io_buffer(const char* name, VALUE object) {
  if (owns_memory(object)) return lock_io_buffer(name, object, false);
  return borrow_for_reading(name, rb_funcall(object, rb_intern("get_string"), 0));
}
#else
bool is_io_buffer(VALUE) { return false; }
Borrowed lock_io_buffer(const char* name, VALUE object, bool) { raise_type(name, kKinds, object); }
Borrowed read_io_buffer(const char* name, VALUE object) { raise_type(name, kKinds, object); }
#endif

Borrowed lock_string(const char* name, VALUE object) {
  if (OBJ_FROZEN(object)) raise(CN_INVALID_ARGUMENT, "%s is a frozen String", name);
  int state = 0;
  rb_protect(rb_str_locktmp, object, &state);
  if (state) {
    rb_set_errinfo(Qnil);
    raise(CN_INVALID_ARGUMENT, "%s is a locked String: another operation uses it", name);
  }
  // Gives the String bytes of its own, if it shares them. This refuses Strings that are locked.
  rb_str_unlocktmp(object);
  rb_str_modify(object);
  rb_str_locktmp(object);
  Borrowed borrowed = plain(object, RSTRING_PTR(object), RSTRING_LEN(object));
  borrowed.lock = Borrowed::Lock::kString;
  if (is_embedded(object) && !stage(borrowed)) {
    rb_str_unlocktmp(object);
    raise_no_memory();
  }
  return borrowed;
}

// A Buffer without memory comes from Buffer.allocate.
Borrowed borrow_buffer(VALUE object) {
  Buffer& buffer = usable_buffer_of(object);
  Borrowed borrowed = plain(object, buffer.data, buffer.size);
  borrowed.lock = Borrowed::Lock::kBuffer;
  ++buffer.users;
  return borrowed;
}

}  // namespace

Borrowed borrow_for_reading(const char* name, VALUE object) {
  if (RB_TYPE_P(object, T_STRING)) {
    const VALUE frozen = rb_str_new_frozen(object);
    Borrowed borrowed = plain(frozen, RSTRING_PTR(frozen), RSTRING_LEN(frozen));
    if (is_embedded(frozen) && !stage(borrowed)) raise_no_memory();
    return borrowed;
  }
  if (is_buffer(object)) return borrow_buffer(object);
  if (is_io_buffer(object)) return read_io_buffer(name, object);
  return borrow_address(name, object, false);
}

Borrowed borrow_for_writing(const char* name, VALUE object) {
  if (RB_TYPE_P(object, T_STRING)) return lock_string(name, object);
  if (is_buffer(object)) {
    if (OBJ_FROZEN(object)) raise(CN_INVALID_ARGUMENT, "%s is a frozen Commnet::Buffer", name);
    return borrow_buffer(object);
  }
  if (is_io_buffer(object)) return lock_io_buffer(name, object, true);
  return borrow_address(name, object, true);
}

Borrowed borrow_for_peers(const char* name, VALUE object, bool is_changed) {
  if (RB_TYPE_P(object, T_STRING)) {
    const VALUE buffer_class = rb_const_get(commnet_module, rb_intern("Buffer"));
    return borrow_buffer(rb_class_new_instance(1, &object, buffer_class));
  }
  if (is_changed) return borrow_for_writing(name, object);
  if (is_buffer(object)) return borrow_buffer(object);
  if (is_io_buffer(object)) return lock_io_buffer(name, object, false);
  return borrow_address(name, object, false);
}

void give_back(Borrowed& borrowed) {
  const Borrowed was = borrowed;
  borrowed = plain(Qnil, nullptr, 0);
  if (was.lock == Borrowed::Lock::kString) {
    // Its length cannot have changed.
    if (was.staged) memcpy(RSTRING_PTR(was.object), was.staged, was.size);
    rb_str_unlocktmp(was.object);
  }
  if (was.lock == Borrowed::Lock::kBuffer) --buffer_of(was.object).users;
  free(was.staged);
#ifdef COMMNET_HAS_IO_BUFFER
  if (was.lock == Borrowed::Lock::kIoBuffer) rb_io_buffer_try_unlock(was.object);
#endif
}

void find_address_class(VALUE module) { commnet_module = module; }

}  // namespace commnet::ruby
