#include "ops/composite.h"

namespace oneflow {

namespace {

constinit const OperatorName kCast("cast");

bool is_half(of_dtype dtype) { return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16; }

}  // namespace

void run_composite(Call& call) {
  const auto& rule = rule_of<CompositeRule>(call.schema());
  ProgramBody body(call);
  const of_dtype dtype = rule.rounds ? resolve_dtypes(call).results[0] : OF_DTYPE_NONE;
  if (!is_half(dtype)) return rule.body(body);

  TensorRef wide[kMaxArguments];
  for (size_t i = 0; i < call.schema().arguments.size(); ++i) {
    const int argument = static_cast<int>(i);
    if (!call.is_tensor(argument) || !is_half(call.tensor(argument).dtype())) continue;
    wide[i] = body.call(kCast, call.arguments[i], OF_FLOAT32);
    call.arguments[i] = to_value(wide[i]);
  }
  rule.body(body);
  for (int i = 0; i < call.schema().result_count; ++i)
    if (call.outputs[i]->dtype() == OF_FLOAT32) set_result(call, i, body.call(kCast, call.outputs[i], dtype));
}

void composite_dimensions(Call& call, const Shape&, DimensionMap& map) { trace_dimensions(call, run_composite, map); }

}  // namespace oneflow
