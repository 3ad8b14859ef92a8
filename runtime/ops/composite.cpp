// Composites: expressions over other operators, each of which passes through dispatch. If the record rounds once,
// 16-bit operands are computed in float32 and only the result is rounded.
#include "dispatch/dispatch.h"
#include "ops/kinds.h"

namespace oneflow {

namespace {

constinit const OperatorName kCast("cast");

bool is_half(of_dtype dtype) { return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16; }

}  // namespace

void run_composite(Call& call) {
  const auto& rule = std::get<CompositeRule>(call.schema().rule);
  Body body(call);
  const of_dtype dtype = rule.rounds ? resolve_dtypes(call).results[0] : OF_DTYPE_COUNT;
  if (!is_half(dtype)) return set_result(call, 0, rule.body(body));

  TensorRef wide[kMaxArguments];
  for (size_t i = 0; i < call.schema().arguments.size(); ++i) {
    const int argument = static_cast<int>(i);
    if (!call.is_tensor(argument) || !is_half(call.tensor(argument).dtype())) continue;
    wide[i] = body.call(kCast, call.arguments[i], OF_FLOAT32);
    call.arguments[i] = to_value(wide[i]);
  }
  TensorRef result = rule.body(body);
  if (result->dtype() != dtype) result = body.call(kCast, result, dtype);
  set_result(call, 0, std::move(result));
}

}  // namespace oneflow
