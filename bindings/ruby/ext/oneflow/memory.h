// Memory statistics, limits, and what happens when memory runs out.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// While one lives, this thread runs native code without Ruby's lock.
class GvlReleased {
 public:
  GvlReleased();
  ~GvlReleased();
  GvlReleased(const GvlReleased&) = delete;
  GvlReleased& operator=(const GvlReleased&) = delete;
};

void define_memory(VALUE module);

}  // namespace oneflow::ruby
