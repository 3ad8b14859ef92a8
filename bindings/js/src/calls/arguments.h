// Conversion between the values of the frame, the C API and JavaScript.
#pragma once

#include <oneflow/oneflow.h>

#include "environment.h"

namespace oneflow::node {

// Replaces slots with handles and offsets with pointers, in place; must be called only once per value. The memory of
// the frame must not be overwritten while the values are in use. Returns OF_INTERNAL_ERROR for an empty slot.
of_status resolve_values(const Environment& environment, of_value* values, int32_t count);

// Converts the results of an overload: to a tensor or an array of tensors; several to an array of them, which also has
// them as named properties. Takes ownership of their contents.
Napi::Value results_to_js(Environment& environment, const of_overload& overload, of_value* results);

// Converts an integer to a number if that is exact, otherwise to a BigInt.
napi_value integer_to_js(napi_env env, int64_t integer);

}  // namespace oneflow::node
