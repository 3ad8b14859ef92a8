// Reports native memory to Ruby's garbage collector, which takes it into account when it decides to collect.
#pragma once

#include <cstddef>

namespace oneflow::ruby {

// Adds `bytes` of native memory that a new Ruby object owns. May run the garbage collector; does not raise.
void account_allocated(size_t bytes);

// Subtracts `bytes`, the number that was added for an object, when that object is freed. May be called during garbage
// collection.
void account_freed(size_t bytes);

}  // namespace oneflow::ruby
