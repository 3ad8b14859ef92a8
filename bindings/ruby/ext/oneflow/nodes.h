// Nested data: the nodes that lib/oneflow/nested.rb makes of it, as the C API takes and gives them.
#pragma once

#include <oneflow/files.h>
#include <ruby.h>

#include <cstring>

namespace oneflow::ruby {

// Returns memory of zeros that belongs to a new Ruby object, which the caller must keep alive.
template <class T>
T* allocate(long count, VALUE* owner) {
  const long bytes = static_cast<long>(sizeof(T)) * count;
  return static_cast<T*>(memset(rb_alloc_tmp_buffer(owner, bytes), 0, static_cast<size_t>(bytes)));
}

// Returns copies of Strings without null bytes, and NULL for nil. They belong to a new Ruby object, which the caller
// must keep alive. Native code must not borrow Strings that are items of an Array, because compaction moves them.
const char** copies_of(VALUE texts, VALUE* owner);

// Returns the nodes of an Array of Arrays [kind, count, key or nil, Tensor or nil]. The caller must keep the list and
// `owners` alive. `function` and `argument` appear in the error text of an empty Tensor.
const of_file_node* nodes_of(const char* function, const char* argument, VALUE list, VALUE owners[2]);

// Returns Arrays [kind, count, key or nil, position].
VALUE nodes_to_ruby(const of_file_node* nodes, uint64_t count);

}  // namespace oneflow::ruby
