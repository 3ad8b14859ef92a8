// Checks the arguments of a call against the schema.
#ifndef ONEFLOW_DISPATCH_ARGUMENTS_H_
#define ONEFLOW_DISPATCH_ARGUMENTS_H_

#include <span>

#include "dispatch/call.h"

namespace oneflow {

// Fills in call.arguments and call.device.
void check_arguments(Call& call, std::span<const of_value> arguments);

// Whether an argument that accepts the set may be a tensor of `dtype`, and what error texts call such a tensor: "a
// floating-point tensor".
bool accepts(DTypeSet set, of_dtype dtype);
const char* dtype_set_words(DTypeSet set);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_ARGUMENTS_H_
