// Nested data: the nodes that lib/oneflow/nested.rb makes of it, as the C API takes and gives them.
#pragma once

#include <oneflow/files.h>
#include <ruby.h>

#include <cstring>

namespace oneflow::ruby {

// Returns memory that belongs to a new Ruby object, which the caller must keep alive.
template <class T>
T* allocate(long count, VALUE* owner) {
  const long bytes = static_cast<long>(sizeof(T)) * (count ? count : 1);
  *owner = rb_str_new(nullptr, bytes);
  rb_obj_hide(*owner);
  memset(RSTRING_PTR(*owner), 0, static_cast<size_t>(bytes));
  return reinterpret_cast<T*>(RSTRING_PTR(*owner));
}

// Returns the nodes of an Array of Arrays [kind, count, key or nil, Tensor or nil], from which they borrow. The keys
// are frozen Strings without null bytes. `function` and `argument` appear in the error text of an empty Tensor.
const of_file_node* nodes_of(const char* function, const char* argument, VALUE list, VALUE* owner);

// Returns Arrays [kind, count, key or nil, position].
VALUE nodes_to_ruby(const of_file_node* nodes, uint64_t count);

}  // namespace oneflow::ruby
