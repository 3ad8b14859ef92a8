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
  Borrowed bytes;
  uint32_t rights;
  Memory *previous, *next;  // in the list of the endpoint
};

// Registers the bytes of an object.
VALUE new_memory(VALUE endpoint, VALUE object, uint32_t rights);

// Ends a registration, and takes it from the list. Does nothing if that was done.
void release(Memory& memory);

// Returns the token in a Commnet::Token, which is defined in Ruby. Raises WrongType.
cn_token token_of(VALUE value);

// Defines the class.
void define_memory(VALUE module);

}  // namespace commnet::ruby
