// Libraries of operators: OneFlow.load_library, and the functions of OneFlow::Ops.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

void define_operator_libraries(VALUE module);

}  // namespace oneflow::ruby
