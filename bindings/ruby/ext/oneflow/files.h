// Files of tensors: what lib/oneflow/files.rb is made of.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

void define_files(VALUE module);

}  // namespace oneflow::ruby
