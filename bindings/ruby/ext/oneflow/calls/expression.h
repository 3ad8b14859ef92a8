// OneFlow.einsum_expression and OneFlow.einsum_path, which plan a contraction from the shapes of its operands.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// Defines the classes and the functions. The methods of EinsumExpression that need no C code are in
// lib/oneflow/einsum_expression.rb.
void define_expressions(VALUE module);

}  // namespace oneflow::ruby
