// Converts Ruby's numbers and strings to those of C.
#pragma once

#include <ruby.h>

#include <cstdint>

namespace commnet::ruby {

// Returns an Integer from 0 to `most`. Raises WrongType or InvalidArgument.
uint64_t unsigned_of(const char* name, VALUE value, uint64_t most = UINT64_MAX);
inline uint32_t unsigned32_of(const char* name, VALUE value) {
  return static_cast<uint32_t>(unsigned_of(name, value, UINT32_MAX));
}

// Returns seconds in units of 1 / `per_second`, rounded up; nil is 0. Raises WrongType or InvalidArgument.
uint32_t duration_of(const char* name, VALUE seconds, uint32_t per_second);
// Returns the milliseconds of a timeout, at least 1; nil is 0, which means none.
uint32_t timeout_of(VALUE seconds);

// Returns the text of a String without null bytes, which lives as long as the String; nil is NULL.
const char* text_of(const char* name, VALUE value);

// Raises WrongType unless the value is a String.
void require_string(const char* name, VALUE value);

}  // namespace commnet::ruby
