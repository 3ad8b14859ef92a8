// einsum expressions: contractions that are planned for shapes. JavaScript refers to them by slots, as to tensors.
#pragma once

#include <oneflow/objects.h>

namespace oneflow::node {

// The function that the call of an expression is. Its errors are those of einsum.
extern const of_public_function expression_operands;

}  // namespace oneflow::node
