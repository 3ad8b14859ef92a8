// OneFlow::Generator, a generator of random numbers.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

bool is_generator(VALUE value);
// Returns the handle, borrowed from the object.
of_generator handle_of_generator(VALUE generator);

// Defines the class, and the functions of the generator that the process has. The methods that need no C code are in
// lib/oneflow/generator.rb.
void define_generators(VALUE module);

}  // namespace oneflow::ruby
