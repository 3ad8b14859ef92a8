// Indexing: tensor[...] and tensor[...] = value.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines Tensor#[] and Tensor#[]=.
void define_indexing();

}  // namespace oneflow::ruby
