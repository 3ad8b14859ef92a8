// The kind's function of contractions: matmul and its kin, einsum, tensordot.
#include <algorithm>

#include "dispatch/dispatch.h"
#include "einsum/operand.h"
#include "einsum/path.h"
#include "einsum/product.h"
#include "einsum/rules.h"
#include "einsum/sizes.h"
#include "ops/kinds.h"

namespace oneflow {

namespace {

using namespace einsum;

// The tensors of a call, and what errors call them: nothing where they are members of a list, whose errors speak of
// labels.
struct Inputs {
  std::vector<const Tensor*> tensors;
  std::vector<const char*> names;

  explicit Inputs(const Call& call) {
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

// Several steps round their intermediate results: those of half precision are kept in single precision.
of_dtype working_dtype(of_dtype dtype, size_t operand_count) {
  return is_floating(dtype) && operand_count > 2 ? compute_type(dtype) : dtype;
}

// The labels, with their sizes, that the product of two operands keeps.
std::vector<LabelledDim> kept_dims(const Operand& a, const Operand& b, const LabelSet& wanted) {
  std::vector<LabelledDim> dims;
  for (const LabelledDim& dim : a.dims)
    if (wanted[static_cast<size_t>(dim.label)]) dims.push_back(dim);
  for (const LabelledDim& dim : b.dims)
    if (wanted[static_cast<size_t>(dim.label)] && !a.find(dim.label)) dims.push_back(dim);
  return dims;
}

// Multiplies the operands pair by pair until one is left, the last time into `out`.
void evaluate(const Call& call, const Operand& out, std::vector<Operand> operands, std::span<const int64_t> sizes) {
  if (operands.size() == 1) return sum_into(out, operands[0]);
  std::vector<LabelSet> labels;
  for (const Operand& operand : operands) labels.push_back(operand.labels());
  for (const Step& step : find_path(labels, out.labels(), sizes)) {
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
  const Inputs inputs(call);
  const Equation equation = equation_of(call, inputs.tensors);
  std::vector<Sizes> shapes;
  for (const Tensor* tensor : inputs.tensors) shapes.push_back(tensor->sizes());
  const std::vector<int64_t> sizes = label_sizes(equation, shapes, inputs.names);
  Shape shape;
  for (const int label : equation.output) shape.push_back(sizes[static_cast<size_t>(label)]);

  const of_dtype dtype = resolve_dtypes(call).results[0];
  const Tensor& result = prepare_exact_result(call, 0, shape, dtype);
  if (call.infer_only || result.count() == 0) return;

  const of_dtype working = working_dtype(dtype, inputs.tensors.size());
  std::vector<Operand> operands;
  Body body(call);
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const Tensor& tensor = *inputs.tensors[i];
    TensorRef converted =
        tensor.dtype() == working ? TensorRef::share(const_cast<Tensor*>(&tensor)) : body.call(cast, tensor, working);
    operands.push_back(make_operand(std::move(converted), equation.operands[i]));
  }
  if (working == dtype) {
    evaluate(call, make_operand(call.outputs[0], equation.output), std::move(operands), sizes);
  } else {
    const TensorRef wide = Tensor::allocate(shape, working, call.device);
    evaluate(call, make_operand(wide, equation.output), std::move(operands), sizes);
    call_into(result, copy, result, wide);
  }
}

}  // namespace oneflow
