#include "ops/selection_adjoint.h"

#include <algorithm>

#include "base/shape.h"
#include "dispatch/dispatch.h"
#include "dispatch/program_body.h"
#include "tensor/complex.h"

namespace oneflow {

namespace {

constinit const OperatorName kArange("arange");
constinit const OperatorName kCopy("copy");
constinit const OperatorName kFill("fill");
constinit const OperatorName kIndexPut("index_put_");
constinit const OperatorName kReshape("reshape");

// Calls the operator whose gradient is computed, with `source` in place of the argument that it selects from.
TensorRef select(const Call& call, const AdjointRule& rule, const Tensor& source) {
  const Operator& of = *find_operator(rule.of);
  of_value arguments[kMaxArguments];
  const size_t count = of.schema().arguments.size();
  std::copy_n(call.arguments + 1, count, arguments);
  arguments[rule.argument] = to_value(source);
  of_value result{};
  call_inside(of, call.name, {arguments, count}, {&result, 1}, false);
  return TensorRef::adopt(to_tensor(result.as.tensor));
}

// Adds the gradient to the elements of `result` at the positions that are selected from a tensor of all positions.
void add_at_positions(Call& call, const AdjointRule& rule, const Tensor& grad, const Tensor& result) {
  ProgramBody body(call);
  const TensorRef all = body.call(kReshape, body.call(kArange, result.count(), OF_INT64, call.device), result.sizes());
  const std::array<int64_t, 1> flat = {-1};
  const TensorRef positions = body.call(kReshape, select(call, rule, *all), flat);
  const std::array<of_tensor, 1> indices = {to_handle(positions.get())};
  TensorRef to = body.call(kReshape, result, flat), added = body.call(kReshape, grad, flat);
  if (is_complex(grad.dtype())) {
    to = view_as_real(*to);
    added = view_as_real(*added);
  }
  body.call(kIndexPut, to, indices, added, true);
}

}  // namespace

void run_selection_adjoint(Call& call) {
  const auto& rule = rule_of<AdjointRule>(call.schema());
  const Tensor& grad = call.tensor(0);
  const Tensor& result = prepare_exact_result(call, 0, call.tensor(1 + rule.argument).sizes(), grad.dtype());
  if (call.infer_only || result.count() == 0) return;
  call_into(call, result, kFill, share(result), 0);
  if (grad.count() == 0) return;
  const TensorRef part = select(call, rule, result);
  const bool is_view = part->storage().get() == result.storage().get();
  if (is_view && !overlaps_itself(part->sizes(), part->strides()))
    return call_into(call, *part, kCopy, share(*part), grad);
  add_at_positions(call, rule, grad, result);
}

}  // namespace oneflow
