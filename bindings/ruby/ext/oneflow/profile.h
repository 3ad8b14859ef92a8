// OneFlow::Profile, what the calls of operators in a block took.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines the class. OneFlow.profile and the methods that need no C code are in lib/oneflow/profile.rb.
void define_profiles(VALUE module);

}  // namespace oneflow::ruby
