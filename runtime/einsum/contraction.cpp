// The kind's function of contractions: matmul and its kin, einsum, tensordot.
#include <algorithm>

#include "dispatch/dispatch.h"
#include "einsum/operand.h"
#include "einsum/plan.h"
#include "einsum/product.h"
#include "ops/kinds.h"

namespace oneflow {

namespace {

using namespace einsum;

// The tensors that a call multiplies, and what errors call them: nothing where they are members of a list, whose errors
// speak of labels.
struct Inputs {
  std::pmr::vector<const Tensor*> tensors;
  std::pmr::vector<const char*> names;

  Inputs(const Call& call, int addend, std::pmr::memory_resource* memory) : tensors(memory), names(memory) {
    for (const uint8_t argument : call.op.tensor_arguments()) {
      if (argument == addend) continue;
      if (call.is_tensor(argument)) {
        tensors.push_back(&call.tensor(argument));
        names.push_back(call.schema().arguments[argument].name);
      } else {
        for (const of_tensor tensor : call.tensors(argument)) tensors.push_back(to_tensor(tensor));
      }
    }
  }
};

// Half precision is added up, and kept in between, in single precision.
of_dtype working_dtype(of_dtype dtype, bool has_intermediates) {
  return is_floating(dtype) && has_intermediates ? compute_type(dtype) : dtype;
}

// The dimensions of the product of two operands that has these labels.
Dims product_dims(const Operand& a, const Operand& b, const LabelSet& labels) {
  Dims dims(a.dims.get_allocator());
  for (const LabelledDim& dim : a.dims)
    if (labels[static_cast<size_t>(dim.label)]) dims.push_back(dim);
  for (const LabelledDim& dim : b.dims)
    if (labels[static_cast<size_t>(dim.label)] && !a.find(dim.label)) dims.push_back(dim);
  return dims;
}

// Multiplies the operands step by step, the last time into `out`.
void multiply_all(const Call& call, const Operand& out, std::pmr::vector<Operand>& operands,
                  std::span<const Step> path) {
  if (path.empty()) return sum_into(call, out, operands[0]);
  for (const Step& step : path) {
    const Operand a = std::move(operands[step.left]), b = std::move(operands[step.right]);
    if (&step == &path.back()) return multiply_into(call, out, a, b);
    operands.push_back(allocate_operand(product_dims(a, b, step.labels), out.tensor->dtype(), out.tensor->device()));
    multiply_into(call, operands.back(), a, b);
  }
}

// ShapeError where what is added does not broadcast to the result.
void check_addend(const Call& call, int argument, const Shape& shape) {
  const Sizes sizes = call.tensor(argument).sizes();
  const auto fits = [](int64_t size, int64_t wanted) { return size == 1 || size == wanted; };
  if (sizes.size() > shape.size() || !std::equal(sizes.begin(), sizes.end(), shape.end() - sizes.size(), fits))
    fail(OF_SHAPE_ERROR, "%s of shape %s does not broadcast to the result's %s", call.schema().arguments[argument].name,
         to_text(sizes).c_str(), to_text(shape).c_str());
}

// Computes the plan's sums of products into `target`.
void contract_into(Call& call, const TensorRef& target, const Inputs& inputs, const Plan& plan,
                   std::pmr::memory_resource* memory) {
  static const OperatorName cast("cast"), fill("fill");
  // Sums of nothing are zero, whatever they would be multiplied by.
  if (plan.sums_nothing) return call_into(call, *target, fill, target, 0);
  std::pmr::vector<Operand> operands(memory);
  operands.reserve(inputs.tensors.size() + plan.path.size());
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    TensorRef tensor = share(*inputs.tensors[i]);
    if (tensor->dtype() != target->dtype()) tensor = Body(call).call(cast, tensor, target->dtype());
    operands.push_back(make_operand(std::move(tensor), plan.equation.operands[i], memory));
  }
  multiply_all(call, make_operand(target, plan.equation.output, memory), operands, plan.path);
}

}  // namespace

void run_contraction(Call& call) {
  static const OperatorName copy("copy"), add("add");
  std::byte stack[4096];
  std::pmr::monotonic_buffer_resource memory(stack, sizeof stack);
  const int addend = std::get<ContractionRule>(call.schema().rule).addend;
  const bool adds = addend >= 0 && call.is_given(addend);
  const Inputs inputs(call, addend, &memory);
  const std::shared_ptr<const Plan> plan = plan_for(call, inputs.tensors, inputs.names);
  if (adds) check_addend(call, addend, plan->shape);
  const of_dtype dtype = resolve_dtypes(call).results[0];
  const Tensor& result = prepare_exact_result(call, 0, plan->shape, dtype);
  if (call.infer_only || result.count() == 0) return;

  const of_dtype working = working_dtype(dtype, plan->has_intermediates || adds);
  const TensorRef target = working == dtype ? call.outputs[0] : Tensor::allocate(plan->shape, working, call.device);
  contract_into(call, target, inputs, *plan, &memory);
  if (adds) {
    call_into(call, result, add, target, share(call.tensor(addend)));
  } else if (working != dtype) {
    call_into(call, result, copy, result, target);
  }
}

}  // namespace oneflow
