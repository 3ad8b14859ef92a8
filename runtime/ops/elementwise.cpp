#include "ops/elementwise.h"

#include <algorithm>
#include <functional>

#include "device/copy.h"
#include "dispatch/launch.h"
#include "ops/iteration.h"
#include "tensor/transfer.h"

namespace oneflow {

namespace {

// The operands of a call, including numbers and absent tensors.
struct Operands {
  const Tensor* tensors[kMaxArguments];  // NULL for a number or an absent tensor
  int count = 0;
  const Tensor* first_tensor = nullptr;  // NULL if all operands are numbers
  bool is_flat = true;                   // whether all tensors have the same shape and are contiguous
};

Operands collect_operands(const Call& call) {
  Operands operands;
  for (const uint8_t argument : call.op.tensor_arguments()) {
    const of_value& value = call.arguments[argument];
    const Tensor* tensor = value.kind == OF_VALUE_TENSOR ? to_tensor(value.as.tensor) : nullptr;
    operands.tensors[operands.count++] = tensor;
    if (!tensor) continue;
    if (!operands.first_tensor) operands.first_tensor = tensor;
    operands.is_flat &= tensor->is_contiguous() && same_sizes(tensor->sizes(), operands.first_tensor->sizes());
  }
  return operands;
}

Shape common_shape(const Operands& operands) {
  Shape shape;
  for (int i = 0; i < operands.count; ++i)
    if (operands.tensors[i]) shape = broadcast_shapes(shape, operands.tensors[i]->sizes());
  return shape;
}

of_scalar number_operand(const Call& call, int argument) {
  return call.is_given(argument) ? call.number(argument) : bool_scalar(false);
}

// Returns whether the value of an operand may exceed int32 although the result dtype is no wider: a number or a 0-d
// tensor does not take part in promotion with its width.
bool has_wide_operand(const Call& call) {
  for (const uint8_t argument : call.op.promoted_arguments()) {
    const of_value& value = call.arguments[argument];
    const bool is_integer = value.kind == OF_VALUE_INT || value.kind == OF_VALUE_UINT;
    if (is_integer && !fits(scalar_of(value), OF_INT32)) return true;
    if (value.kind == OF_VALUE_TENSOR && compute_type(to_tensor(value.as.tensor)->dtype()) == OF_INT64) return true;
  }
  return false;
}

void run_with(Call& call, const DTypes& dtypes) {
  Operands operands = collect_operands(call);
  const int variant = match_variant(call);
  const int result_count = call.schema().result_count;

  Shape shape;
  if (!operands.is_flat) shape = common_shape(operands);
  const Sizes sizes = operands.is_flat && operands.first_tensor ? Sizes(operands.first_tensor->sizes()) : Sizes(shape);
  of_kernel_tensor outputs[kMaxResults];
  for (int i = 0; i < result_count; ++i) {
    const Tensor& output = prepare_result(call, i, sizes, dtypes.results[i], Aliasing::kAllowed);
    operands.is_flat &= output.is_contiguous();
  }
  if (call.infer_only || call.outputs[0]->count() == 0) return;
  // The fields are assigned one by one. Copying whole structs would load with wide moves what narrow stores have just
  // written, which defeats store forwarding.
  for (int i = 0; i < result_count; ++i) {
    outputs[i].data = const_cast<void*>(call.outputs[i]->data());
    outputs[i].dtype = call.outputs[i]->dtype();
  }
  of_kernel_tensor inputs[kMaxArguments];
  for (int i = 0; i < operands.count; ++i) {
    if (const Tensor* tensor = operands.tensors[i]) {
      inputs[i].data = const_cast<void*>(tensor->data());
      inputs[i].dtype = tensor->dtype();
    } else {
      inputs[i] = kernel_number(number_operand(call, call.op.tensor_arguments()[i]));
    }
  }

  const auto run = [&](int rank, const int64_t* shared_sizes, auto&& strides_of) {
    const auto lay_out = [&](of_kernel_tensor& operand, int position) {
      operand.rank = rank;
      operand.sizes = shared_sizes;
      operand.strides = strides_of(position);
    };
    int position = 0;
    for (int i = 0; i < result_count; ++i) lay_out(outputs[i], position++);
    for (int i = 0; i < operands.count; ++i)
      if (operands.tensors[i]) lay_out(inputs[i], position++);
    launch(call, {.variant = variant,
                  .compute = dtypes.compute,
                  .inputs = {inputs, static_cast<size_t>(operands.count)},
                  .outputs = {outputs, static_cast<size_t>(result_count)},
                  .is_pointwise = true});
  };

  if (operands.is_flat) {
    static constexpr int64_t kOne = 1;
    const int64_t count = call.outputs[0]->count();
    return run(1, &count, [](int) { return &kOne; });
  }
  Iteration iteration(call.outputs[0]->sizes());
  for (int i = 0; i < result_count; ++i) iteration.add(call.outputs[i]->sizes(), call.outputs[i]->strides());
  for (int i = 0; i < operands.count; ++i)
    if (operands.tensors[i]) iteration.add(operands.tensors[i]->sizes(), operands.tensors[i]->strides());
  iteration.sort_by_first_operand();
  iteration.merge();
  run(iteration.rank(), iteration.sizes(), [&](int position) { return iteration.strides(position); });
}

// Returns whether the caller's tensor has the bytes of `source` once it is copied.
bool is_same_copy(Call& call, const Tensor& source) {
  if (call.results[0].kind != OF_VALUE_TENSOR) return false;
  const Tensor& target = *to_tensor(call.results[0].as.tensor);
  return target.device() == call.device && target.dtype() == source.dtype() &&
         resolve_dtypes(call).results[0] == source.dtype() && same_sizes(target.sizes(), source.sizes()) &&
         same_sizes(call.tensor(0).sizes(), source.sizes()) && target.is_contiguous() && source.is_contiguous();
}

}  // namespace

void run_elementwise(Call& call) {
  DTypes dtypes = resolve_dtypes(call);
  if (dtypes.compute == OF_INT32 && has_wide_operand(call)) dtypes.compute = OF_INT64;
  run_with(call, dtypes);
}

void run_elementwise(Call& call, of_dtype compute) {
  DTypes dtypes = resolve_dtypes(call);
  dtypes.compute = compute;
  run_with(call, dtypes);
}

void run_copy(Call& call) {
  const auto& arguments = call.schema().arguments;
  const auto found = std::find_if(arguments.begin(), arguments.end(), std::mem_fn(&Argument::comes_from_any_device));
  of_value& argument = call.arguments[found - arguments.begin()];
  const of_tensor given = argument.as.tensor;
  const Tensor& source = *to_tensor(given);
  if (source.device() == call.device || call.infer_only) return run_elementwise(call);
  if (is_same_copy(call, source)) {
    const Tensor& result = prepare_result(call, 0, source.sizes(), source.dtype(), Aliasing::kAllowed);
    return copy_contiguous(result, source);
  }
  const TensorRef moved = copy_to_device(source, call.device);
  argument.as.tensor = to_handle(moved.get());
  run_elementwise(call);
  argument.as.tensor = given;
}

}  // namespace oneflow
