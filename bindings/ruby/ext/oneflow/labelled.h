// Operands that come with their labels, as in OneFlow.einsum(a, [0, 1], b, [1, 2], [0, 2]): the call with an equation
// that means the same.
#pragma once

#include "binding.h"

namespace oneflow::ruby {

// Puts the equation in front of the operands, in place of their labels, where the first positional argument is a
// tensor. Raises where they are not tensors each with an Array or a Range of labels behind it, and maybe one more of
// those, for the result.
void read_labels(CallSite* site);

}  // namespace oneflow::ruby
