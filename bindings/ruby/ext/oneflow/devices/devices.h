// OneFlow::Device and the functions for devices and fallbacks.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines the class and the functions. The methods of Device that need no C code are in lib/oneflow/device.rb.
void define_devices(VALUE module);

}  // namespace oneflow::ruby
