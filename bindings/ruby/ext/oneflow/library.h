// Properties of tensors, dtypes and settings.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines the functions and the methods of Tensor.
void define_library(VALUE module);

}  // namespace oneflow::ruby
