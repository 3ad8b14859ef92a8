#include "buffer.h"

#include <cstdlib>
#include <cstring>

#include "convert.h"
#include "errors.h"
#include "fork.h"

namespace commnet::ruby {
namespace {

void free_buffer(void* data) {
  release(*static_cast<Buffer*>(data));
  xfree(data);
}
size_t memory_size(const void* data) { return sizeof(Buffer) + static_cast<const Buffer*>(data)->size; }

const rb_data_type_t kBufferType = {
    "Commnet::Buffer", {nullptr, free_buffer, memory_size}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

VALUE buffer_class;

VALUE allocate(VALUE type) {
  Buffer* buffer;
  return TypedData_Make_Struct(type, Buffer, &kBufferType, buffer);
}

// Gives a new buffer its memory, of zeros.
void reserve(VALUE self, size_t size) {
  Buffer& buffer = buffer_of(self);
  if (buffer.data || buffer.is_released) raise(CN_INVALID_ARGUMENT, "the buffer has its memory already");
  buffer.data = static_cast<char*>(calloc(size == 0 ? 1 : size, 1));
  if (!buffer.data) raise(CN_OUT_OF_MEMORY, "a buffer of %zu bytes needs more memory than there is", size);
  buffer.size = size;
}

VALUE initialize(VALUE self, VALUE content) {
  if (RB_TYPE_P(content, T_STRING)) {
    reserve(self, RSTRING_LEN(content));
    memcpy(buffer_of(self).data, RSTRING_PTR(content), buffer_of(self).size);
  } else if (RB_INTEGER_TYPE_P(content)) {
    reserve(self, unsigned_of("size", content, PTRDIFF_MAX));
  } else {
    raise_type("content", "String or the size as Integer", content);
  }
  return self;
}

VALUE initialize_copy(VALUE self, VALUE other) {
  if (!is_buffer(other)) raise_type("other", "Commnet::Buffer", other);
  if (self == other) return self;
  const Buffer& source = usable_buffer_of(other);
  reserve(self, source.size);
  if (source.size > 0) memcpy(buffer_of(self).data, source.data, source.size);
  return self;
}

VALUE bytesize(VALUE self) { return SIZET2NUM(buffer_of(self).size); }

// Raises OutOfRange unless [offset, offset + size) is in the buffer.
void check_range(const Buffer& buffer, uint64_t offset, uint64_t size) {
  if (offset > buffer.size || size > buffer.size - offset)
    raise(CN_OUT_OF_RANGE, "bytes %llu to %llu are outside of a buffer of %zu bytes",
          static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + size), buffer.size);
}

VALUE get_bytes(VALUE self, VALUE offset, VALUE size) {
  const Buffer& buffer = usable_buffer_of(self);
  const uint64_t begin = unsigned_of("offset", offset), count = unsigned_of("size", size);
  check_range(buffer, begin, count);
  return rb_str_new(buffer.data + begin, static_cast<long>(count));
}

VALUE set_bytes(VALUE self, VALUE offset, VALUE bytes) {
  rb_check_frozen(self);
  const Buffer& buffer = usable_buffer_of(self);
  const uint64_t begin = unsigned_of("offset", offset);
  require_string("bytes", bytes);
  check_range(buffer, begin, RSTRING_LEN(bytes));
  memcpy(buffer.data + begin, RSTRING_PTR(bytes), RSTRING_LEN(bytes));
  return bytes;
}

VALUE address(VALUE self) { return ULL2NUM(reinterpret_cast<uintptr_t>(usable_buffer_of(self).data)); }

}  // namespace

bool is_buffer(VALUE value) { return rb_typeddata_is_kind_of(value, &kBufferType); }

Buffer& buffer_of(VALUE value) { return *static_cast<Buffer*>(rb_check_typeddata(value, &kBufferType)); }

Buffer& usable_buffer_of(VALUE value) {
  Buffer& buffer = buffer_of(value);
  if (buffer.is_released) raise(CN_CLOSED, "the memory of the buffer was released");
  return buffer;
}

VALUE new_buffer() { return allocate(buffer_class); }

void set_memory(Buffer& buffer, cn_memory* memory, void* data, size_t size) {
  buffer.memory = memory;
  buffer.data = static_cast<char*>(data);
  buffer.size = size;
  buffer.fork = fork_count();
}

void release(Buffer& buffer) {
  if (!buffer.memory)
    free(buffer.data);
  else if (buffer.fork == fork_count())
    cn_memory_release(buffer.memory);
  buffer.memory = nullptr;
  buffer.data = nullptr;
  buffer.size = 0;
  buffer.is_released = true;
}

void define_buffer(VALUE module) {
  const VALUE type = buffer_class = rb_define_class_under(module, "Buffer", rb_cObject);
  rb_gc_register_mark_object(type);
  rb_define_alloc_func(type, allocate);
  rb_define_method(type, "initialize", initialize, 1);
  rb_define_method(type, "initialize_copy", initialize_copy, 1);
  rb_define_method(type, "bytesize", bytesize, 0);
  rb_define_method(type, "address", address, 0);
  rb_define_method(type, "get_bytes", get_bytes, 2);
  rb_define_method(type, "set_bytes", set_bytes, 2);
}

}  // namespace commnet::ruby
