// Tensors from Ruby's own data, and back: nested arrays, packed strings, single numbers.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// A tensor of the natural dtype: Integers int64, Floats the default dtype, true and false bool.
VALUE tensor_from_array(VALUE data);

void define_native_data(VALUE module);

}  // namespace oneflow::ruby
