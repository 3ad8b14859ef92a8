// Versions, properties of tensors, dtypes and settings.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Raises LoadError if the loaded liboneflow has another version than the extension. Must be called before anything else
// in the library: all that a process loads of oneflow shares the copy that was loaded first.
void check_version();

// Defines the functions and the methods of Tensor.
void define_library(VALUE module);

}  // namespace oneflow::ruby
