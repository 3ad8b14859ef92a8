// Devices: their names, what is known of them, and what ran on another one.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// The class and the functions. What of a Device needs no C stands in lib/oneflow/device.rb.
void define_devices(VALUE module);

}  // namespace oneflow::ruby
