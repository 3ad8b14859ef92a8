// Commnet::Buffer: memory of a fixed size that neither the garbage collector nor Ruby code moves.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

#include <cstddef>

namespace commnet::ruby {

struct Buffer {
  char* data;
  size_t size;
  cn_memory* memory;  // of cn_memory_alloc(), which has the bytes; NULL: they are the buffer's own
  unsigned fork;      // fork_count() at its creation
  unsigned users;     // how often the bytes are borrowed
  bool is_released;   // the bytes are gone
};

// Defines the class.
void define_buffer(VALUE module);

bool is_buffer(VALUE value);
Buffer& buffer_of(VALUE value);
// Returns the memory of a Commnet::Buffer, which lives as long as the object, or until it is released. Raises Closed if
// it was.
Buffer& usable_buffer_of(VALUE value);

// Creates one without memory, and gives it memory of cn_memory_alloc(), which does not raise.
VALUE new_buffer();
void set_memory(Buffer& buffer, cn_memory* memory, void* data, size_t size);
// Frees memory of cn_memory_alloc() before the object is collected.
void release(Buffer& buffer);

}  // namespace commnet::ruby
