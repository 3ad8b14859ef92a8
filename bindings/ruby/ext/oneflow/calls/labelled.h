// Operands with labels in place of an equation: OneFlow.einsum(a, [0, 1], b, [1, 2], [0, 2]).
#pragma once

#include "calls/binding.h"

namespace oneflow::ruby {

// If the first positional argument is a tensor, replaces the labels by the equivalent equation, as the first argument
// before the operands. Raises TypeMismatch unless the arguments alternate between a tensor and an Array or a Range of
// labels, optionally followed by the labels of the result; InvalidArgument for negative labels and Ranges that are too
// long.
void read_labels(CallSite* site);

}  // namespace oneflow::ruby
