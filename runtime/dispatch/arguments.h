// Checks the arguments of a call against the schema.
#ifndef ONEFLOW_DISPATCH_ARGUMENTS_H_
#define ONEFLOW_DISPATCH_ARGUMENTS_H_

#include <span>

#include "dispatch/call.h"

namespace oneflow {

// Checks `arguments` and stores them in `call`: sets call.arguments, call.device, call.is_complex and what follows from
// the tensors. Throws the error of the first argument that does not match the schema. Devices may still differ.
void check_arguments(Call& call, std::span<const of_value> arguments);

// Throws the DeviceError for the tensor that call.misplaced says.
[[noreturn]] void fail_misplaced(const Call& call);
// Throws DeviceError unless all tensors of the arguments are on one device, or the schema allows others.
inline void check_devices(const Call& call) {
  if (call.misplaced >= 0) [[unlikely]]
    fail_misplaced(call);
}

// Returns whether a set contains a real dtype.
bool accepts(DTypeSet set, of_dtype dtype);
// Returns the name that error texts use for tensors with a dtype in the set: "a floating-point tensor".
const char* dtype_set_words(DTypeSet set);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_ARGUMENTS_H_
