#include "ops/composite.h"

#include "dispatch/launch.h"
#include "dispatch/layers.h"
#include "ops/elementwise.h"

namespace oneflow {

namespace {

constinit const OperatorName kCast("cast");

bool is_half(of_dtype dtype) { return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16; }

// Returns whether a layer wants to see the calls in the body of a composite.
bool is_body_seen(const Call& call) {
  return ((call.carried_layers | thread_state.asked_layers) & thread_state.open_layers) != 0;
}

// Returns the results of a call without memory.
void infer(const Call& call, TensorRef (&forms)[kMaxResults]) {
  const OpenLayers none(0);
  of_value inferred[kMaxResults]{};
  const auto count = static_cast<size_t>(call.schema().result_count);
  call_inside(call.op, call.name, {call.arguments, call.schema().arguments.size()}, {inferred, count}, true);
  for (size_t i = 0; i < count; ++i) forms[i] = TensorRef::adopt(to_tensor(inferred[i].as.tensor));
}

// Returns the operand for a tensor, a number or an absent tensor.
of_kernel_tensor operand(const Call& call, int argument) {
  if (call.is_tensor(argument)) {
    const Tensor& tensor = call.tensor(argument);
    return kernel_tensor(tensor, tensor.has_memory() ? tensor.data() : nullptr);  // null: only its shape is read
  }
  return kernel_number(call.is_given(argument) ? call.number(argument) : bool_scalar(false));
}

// Returns whether all tensors have the same dtype.
bool have_same_dtype(const Call& call) {
  const of_dtype first = call.tensor(call.op.tensor_arguments()[0]).dtype();
  for (const uint8_t argument : call.op.tensor_arguments())
    if (call.is_tensor(argument) && call.tensor(argument).dtype() != first) return false;
  return true;
}

// Runs the kernel that the device has for the whole composite, if it has one that computes these operands. Returns
// whether it does.
bool run_fused(Call& call, int variant) {
  const Schema& schema = call.schema();
  if (call.infer_only || schema.gives_list || call.is_complex || is_body_seen(call)) return false;
  const auto arguments = call.op.tensor_arguments();
  if (arguments.empty() || !call.is_tensor(arguments[0])) return false;
  const of_dtype compute = compute_type(call.tensor(arguments[0]).dtype());
  if (!call.op.kernel(variant, compute, call.device)) return false;
  if (rule_of<CompositeRule>(schema).is_elementwise) {
    if (!have_same_dtype(call)) return false;
    run_elementwise(call);
    return true;
  }
  TensorRef forms[kMaxResults];
  infer(call, forms);
  if (forms[0]->count() == 0) return false;
  of_kernel_tensor inputs[kMaxArguments], outputs[kMaxResults];
  const auto count = static_cast<size_t>(schema.result_count);
  size_t operands = 0;
  for (const uint8_t argument : arguments) inputs[operands++] = operand(call, argument);
  for (size_t i = 0; i < count; ++i)
    outputs[i] = kernel_output(prepare_exact_result(call, static_cast<int>(i), forms[i]->sizes(), forms[i]->dtype()));
  return launch_if_possible(
      call, {.variant = variant, .compute = compute, .inputs = {inputs, operands}, .outputs = {outputs, count}});
}

}  // namespace

void run_composite(Call& call) {
  const auto& rule = rule_of<CompositeRule>(call.schema());
  const int variant = match_variant(call);  // throws InvalidArgument for a value that no branch has
  if (run_fused(call, variant)) return;
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
