// tensor[...] and tensor[...] = value.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

void define_indexing();

}  // namespace oneflow::ruby
