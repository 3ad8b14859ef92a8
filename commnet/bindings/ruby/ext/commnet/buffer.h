// Commnet::Buffer: memory of a fixed size that neither the garbage collector nor Ruby code moves.
#pragma once

#include <ruby.h>

#include <cstddef>

namespace commnet::ruby {

struct Buffer {
  char* data;
  size_t size;
};

// Defines the class.
void define_buffer(VALUE module);

bool is_buffer(VALUE value);
// Returns the memory of a Commnet::Buffer, which lives as long as the object.
Buffer& buffer_of(VALUE value);

}  // namespace commnet::ruby
