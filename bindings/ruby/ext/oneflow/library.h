// Settings, devices, random state, and what a tensor says about itself.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

void define_library(VALUE module);

}  // namespace oneflow::ruby
