// Gradients: what autograd keeps with tensors, backward passes, hooks and functions of users.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines the methods of Tensor, and the functions that lib/oneflow/autograd.rb is made of.
void define_gradients(VALUE module);

}  // namespace oneflow::ruby
