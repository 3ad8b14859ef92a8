// Tensors from Ruby's own data, and back: nested arrays, packed strings, single numbers.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// A tensor with the numbers of nested Arrays, which error texts call `name`. OF_DTYPE_COUNT stands for their natural
// dtype.
VALUE tensor_from_array(const char* name, VALUE data, of_dtype dtype, of_device device);

void define_native_data(VALUE module);

}  // namespace oneflow::ruby
