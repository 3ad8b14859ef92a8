// OneFlow::Tensor: a Ruby object that owns an of_tensor, its data pointer.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

extern const rb_data_type_t tensor_type;
extern VALUE tensor_class;

// Defines the class OneFlow::Tensor.
void define_tensor_class(VALUE module);

inline bool is_tensor(VALUE value) {
  return RB_TYPE_P(value, T_DATA) && RTYPEDDATA_P(value) && RTYPEDDATA_TYPE(value) == &tensor_type;
}

// Returns the handle, or NULL for an empty Tensor: one that `allocate` returned, or a result that is being computed.
inline of_tensor peek(VALUE tensor) { return static_cast<of_tensor>(RTYPEDDATA_DATA(tensor)); }

// Raises TypeMismatch if the object is not a Tensor, InvalidArgument if it is an empty Tensor.
[[noreturn]] void raise_no_handle(VALUE object);

// Returns the handle, borrowed from the object; raises as raise_no_handle() does if there is none.
inline of_tensor handle_of(VALUE object) {
  const of_tensor handle = is_tensor(object) ? peek(object) : nullptr;
  if (!handle) raise_no_handle(object);
  return handle;
}

// Raises InvalidArgument for an argument that is an empty Tensor, or, with an `item` of at least 0, for that item of a
// list argument.
[[noreturn]] void raise_no_value(const char* function, const char* argument, long item = -1);

// Returns the handle of a Tensor that is an argument or an item of a list argument; raises InvalidArgument if it is
// empty.
inline of_tensor handle_of_argument(const char* function, const char* argument, VALUE tensor, long item = -1) {
  const of_tensor handle = peek(tensor);
  if (!handle) raise_no_value(function, argument, item);
  return handle;
}

// Returns the properties of a tensor.
of_tensor_info info_of(VALUE tensor);

// Returns an empty Tensor. It is allocated before the native call whose result it will hold, so that the result cannot
// be lost if Ruby runs out of memory.
VALUE new_tensor();

// Sets the handle of an empty Tensor, which never changes afterwards. Takes ownership of the caller's reference, and
// reports the memory to the garbage collector. Does not raise.
void fill_tensor(VALUE object, of_tensor tensor);

}  // namespace oneflow::ruby
