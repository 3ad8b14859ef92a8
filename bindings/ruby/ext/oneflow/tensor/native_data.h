// Converts Ruby data to tensors and back: nested Arrays, packed Strings, single numbers.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

// Creates a tensor from a number or nested Arrays. OF_DTYPE_NONE selects the inferred dtype. `name` is the prefix of
// error texts.
VALUE tensor_from_array(const char* name, VALUE data, of_dtype dtype, of_device device);

// Defines the functions and the methods of Tensor.
void define_native_data(VALUE module);

}  // namespace oneflow::ruby
