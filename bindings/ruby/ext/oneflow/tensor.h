// OneFlow::Tensor: a Ruby object that owns one of_tensor.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

struct TensorBox {
  of_tensor tensor;  // NULL until it is filled: a fresh `allocate`, or a result that is still being computed
  size_t reported;   // bytes that the garbage collector was told of
};

extern const rb_data_type_t tensor_type;
extern VALUE tensor_class;

void define_tensor_class(VALUE module);

inline bool is_tensor(VALUE value) {
  return RB_TYPE_P(value, T_DATA) && RTYPEDDATA_P(value) && RTYPEDDATA_TYPE(value) == &tensor_type;
}

inline TensorBox* box_of(VALUE tensor) { return static_cast<TensorBox*>(RTYPEDDATA_DATA(tensor)); }

// The handle, borrowed from the object. Raises TypeMismatch for other objects, InvalidArgument for an empty box.
of_tensor handle_of(VALUE tensor);

// An object with an empty box. Made before the native call whose result it will hold, so that running out of memory
// cannot lose that result.
VALUE new_tensor();

// Gives an empty object its handle (taking over the caller's reference), for good, and accounts for the memory. Does
// not raise.
void fill_tensor(VALUE object, of_tensor tensor);

}  // namespace oneflow::ruby
