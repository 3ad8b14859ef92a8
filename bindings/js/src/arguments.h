// The frame's values as the C API wants them.
#pragma once

#include <oneflow/oneflow.h>

#include "environment.h"

namespace oneflow::node {

// Turns slots into handles and offsets into pointers, in place, once; the frame's memory must stay as it is during the
// call.
of_status resolve_values(const Environment& environment, of_value* values, int32_t count);

// A result as a JavaScript value: a tensor as {slot}, an integer as a number where that is exact and as a BigInt
// elsewhere. Takes over what the result holds.
napi_value result_to_js(Environment* environment, of_value* result);

napi_value integer_to_js(napi_env env, int64_t integer);

}  // namespace oneflow::node
