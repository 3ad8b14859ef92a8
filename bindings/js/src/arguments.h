// Conversion between the values of the frame, the C API and JavaScript.
#pragma once

#include <oneflow/oneflow.h>

#include "environment.h"

namespace oneflow::node {

// Replaces slots with handles and offsets with pointers, in place; must be called only once per value. The memory of
// the frame must not be overwritten while the values are in use. Returns OF_INTERNAL_ERROR for an empty slot.
of_status resolve_values(const Environment& environment, of_value* values, int32_t count);

// Converts a result to a JavaScript value: a tensor to {slot}, an integer as integer_to_js() does. Takes ownership of
// the contents of the result.
napi_value result_to_js(Environment* environment, of_value* result);

// Converts an integer to a number if that is exact, otherwise to a BigInt.
napi_value integer_to_js(napi_env env, int64_t integer);

}  // namespace oneflow::node
