// Commnet::Memory: memory that peers may access.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

#include "borrowed.h"

namespace commnet::ruby {

// Guarded by Ruby's lock.
struct Memory {
  cn_memory* handle;  // NULL: released
  VALUE self, endpoint;
  Borrowed bytes;     // those of its own Buffer are not borrowed
  bool is_allocated;  // by cn_memory_alloc(), which its Buffer has
  uint32_t rights;
  Memory *previous, *next;  // in the list of the endpoint
};

// Registers the bytes of an object.
VALUE new_memory(VALUE endpoint, VALUE object, uint32_t rights);

// Allocates bytes, which an object of Buffer has, and registers them.
VALUE new_allocated_memory(VALUE endpoint, size_t size, uint32_t rights);

// Ends a registration, and takes it from the list. Memory of cn_memory_alloc() stays with its Buffer, and is no longer
// registered once that has released it, or the endpoint is closed.
void retire(Memory& memory);

// Returns the token in a Commnet::Token, which is defined in Ruby. Raises WrongType.
cn_token token_of(VALUE value);

// Defines the class.
void define_memory(VALUE module);

}  // namespace commnet::ruby
