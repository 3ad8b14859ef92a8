// OneFlow.einsum_expression and OneFlow.einsum_path: contractions that are worked out before there are operands.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// The classes and the functions. What of an EinsumExpression needs no C stands in lib/oneflow/einsum_expression.rb.
void define_expressions(VALUE module);

}  // namespace oneflow::ruby
