// The kind's function of contractions: matmul and its kin, einsum, tensordot.
#include "dispatch/dispatch.h"
#include "einsum/operand.h"
#include "einsum/plan.h"
#include "einsum/product.h"
#include "ops/kinds.h"

namespace oneflow {

namespace {

using namespace einsum;

// The tensors of a call, and what errors call them: nothing where they are members of a list, whose errors speak of
// labels.
struct Inputs {
  std::pmr::vector<const Tensor*> tensors;
  std::pmr::vector<const char*> names;

  Inputs(const Call& call, std::pmr::memory_resource* memory) : tensors(memory), names(memory) {
    for (const uint8_t argument : call.op.tensor_arguments()) {
      if (call.is_tensor(argument)) {
        tensors.push_back(&call.tensor(argument));
        names.push_back(call.schema().arguments[argument].name);
      } else {
        for (const of_tensor tensor : call.tensors(argument)) tensors.push_back(to_tensor(tensor));
      }
    }
  }
};

// Intermediate results of half precision are kept in single precision.
of_dtype working_dtype(of_dtype dtype, const Plan& plan) {
  return is_floating(dtype) && plan.has_intermediates ? compute_type(dtype) : dtype;
}

// The labels, with their sizes, that the product of two operands keeps.
Dims kept_dims(const Operand& a, const Operand& b, const LabelSet& wanted) {
  Dims dims(a.dims.get_allocator());
  for (const LabelledDim& dim : a.dims)
    if (wanted[static_cast<size_t>(dim.label)]) dims.push_back(dim);
  for (const LabelledDim& dim : b.dims)
    if (wanted[static_cast<size_t>(dim.label)] && !a.find(dim.label)) dims.push_back(dim);
  return dims;
}

// Multiplies the operands pair by pair until one is left, the last time into `out`.
void evaluate(const Call& call, const Operand& out, std::pmr::vector<Operand>& operands, std::span<const Step> path) {
  if (operands.size() == 1) return sum_into(out, operands[0]);
  for (const Step& step : path) {
    const Operand a = std::move(operands[static_cast<size_t>(step.left)]);
    const Operand b = std::move(operands[static_cast<size_t>(step.right)]);
    operands.erase(operands.begin() + step.right);
    operands.erase(operands.begin() + step.left);
    if (operands.empty()) return multiply_into(call, out, a, b);
    LabelSet wanted = out.labels();
    for (const Operand& other : operands) wanted |= other.labels();
    operands.push_back(allocate_operand(kept_dims(a, b, wanted), out.tensor->dtype(), out.tensor->device()));
    multiply_into(call, operands.back(), a, b);
  }
}

}  // namespace

void run_contraction(Call& call) {
  static const OperatorName cast("cast"), copy("copy");
  std::byte stack[4096];
  std::pmr::monotonic_buffer_resource memory(stack, sizeof stack);
  const Inputs inputs(call, &memory);
  const std::shared_ptr<const Plan> plan = plan_for(call, inputs.tensors, inputs.names);
  const of_dtype dtype = resolve_dtypes(call).results[0];
  const Tensor& result = prepare_exact_result(call, 0, plan->shape, dtype);
  if (call.infer_only || result.count() == 0) return;

  const of_dtype working = working_dtype(dtype, *plan);
  std::pmr::vector<Operand> operands(&memory);
  operands.reserve(inputs.tensors.size());
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    TensorRef tensor = TensorRef::share(const_cast<Tensor*>(inputs.tensors[i]));
    if (tensor->dtype() != working) tensor = Body(call).call(cast, tensor, working);
    operands.push_back(make_operand(std::move(tensor), plan->equation.operands[i], &memory));
  }
  const TensorRef target = working == dtype ? call.outputs[0] : Tensor::allocate(plan->shape, working, call.device);
  evaluate(call, make_operand(target, plan->equation.output, &memory), operands, plan->path);
  if (working != dtype) call_into(result, copy, result, target);
}

}  // namespace oneflow
