// OneFlow::Tensor: a Ruby object whose data pointer is an of_tensor that it owns.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

extern const rb_data_type_t tensor_type;
extern VALUE tensor_class;

void define_tensor_class(VALUE module);

inline bool is_tensor(VALUE value) {
  return RB_TYPE_P(value, T_DATA) && RTYPEDDATA_P(value) && RTYPEDDATA_TYPE(value) == &tensor_type;
}

// The handle, or NULL in an object that is still empty: a fresh `allocate`, or a result that is being computed.
inline of_tensor peek(VALUE tensor) { return static_cast<of_tensor>(RTYPEDDATA_DATA(tensor)); }

// Raises TypeMismatch for what is not a Tensor, InvalidArgument for an empty one.
[[noreturn]] void raise_no_handle(VALUE object);

// The handle, borrowed from the object; raises where there is none.
inline of_tensor handle_of(VALUE object) {
  const of_tensor handle = is_tensor(object) ? peek(object) : nullptr;
  if (!handle) raise_no_handle(object);
  return handle;
}

// Raises InvalidArgument for an empty Tensor that is an argument, or the member of one at that place in a list.
[[noreturn]] void raise_no_value(const char* function, const char* argument, long member = -1);

// The handle of a Tensor that is an argument, or the member of one; raises where there is none.
inline of_tensor handle_of_argument(const char* function, const char* argument, VALUE tensor, long member = -1) {
  const of_tensor handle = peek(tensor);
  if (!handle) raise_no_value(function, argument, member);
  return handle;
}

of_tensor_info info_of(VALUE tensor);

// An empty object. Made before the native call whose result it will hold, so that running out of memory cannot lose
// that result.
VALUE new_tensor();

// Gives an empty object its handle (taking over the caller's reference), for good, and accounts for the memory. Does
// not raise.
void fill_tensor(VALUE object, of_tensor tensor);

}  // namespace oneflow::ruby
