// What native extensions of users get: see oneflow/extension.h.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines the private constant EXTENSION_API, which holds the table, and OneFlow.library_path.
void define_extension_api(VALUE module);

}  // namespace oneflow::ruby
