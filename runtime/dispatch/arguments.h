// Checks the arguments of a call against the schema.
#ifndef ONEFLOW_DISPATCH_ARGUMENTS_H_
#define ONEFLOW_DISPATCH_ARGUMENTS_H_

#include <span>

#include "dispatch/call.h"

namespace oneflow {

// Checks `arguments` and stores them in `call`: sets call.arguments, call.device and call.is_complex. Throws the error
// of the first argument that does not match the schema.
void check_arguments(Call& call, std::span<const of_value> arguments);

// Returns whether a set contains a real dtype.
bool accepts(DTypeSet set, of_dtype dtype);
// Returns the name that error texts use for tensors with a dtype in the set: "a floating-point tensor".
const char* dtype_set_words(DTypeSet set);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_ARGUMENTS_H_
