// What Ruby's garbage collector is told of memory outside its heap, which it weighs when it decides to collect.
#pragma once

#include <cstddef>

namespace oneflow::ruby {

// An object was made that holds so many bytes. May collect garbage; raises nothing.
void account_made(size_t bytes);

// Such an object is freed, with the same number. May be called during garbage collection.
void account_freed(size_t bytes);

}  // namespace oneflow::ruby
