// Where results go: new tensors, or those that the caller gave for the `out` and in-place forms.
#include "device/device.h"
#include "dispatch/call.h"
#include "dispatch/dispatch.h"
#include "tensor/overlap.h"

namespace oneflow {

namespace {

// A type category only goes up: a float is not stored in an integer, nor an integer in a bool.
bool can_store(of_dtype result, of_dtype in) { return category(in) >= category(result); }

const Tensor* given_result(const Call& call, int position) {
  const of_value& value = call.results[position];
  return value.kind == OF_VALUE_TENSOR ? to_tensor(value.as.tensor) : nullptr;
}

// The closest relation between a tensor that is to be written and the operands.
Overlap overlap_with_operands(const Call& call, const Tensor& given) {
  Overlap worst = Overlap::kNone;
  const auto see = [&](of_tensor operand) {
    if (!operand) return;
    const Overlap found = to_tensor(operand) == &given ? Overlap::kExact : overlap(given, *to_tensor(operand));
    if (found == Overlap::kPartial)
      fail(OF_INVALID_ARGUMENT, "the tensor to write to overlaps an operand in part; clone the operand first");
    if (found == Overlap::kExact) worst = Overlap::kExact;
  };
  for (const uint8_t argument : call.op.tensor_arguments()) {
    const of_value& value = call.arguments[argument];
    if (value.kind == OF_VALUE_TENSOR) see(value.as.tensor);
    if (value.kind == OF_VALUE_TENSOR_LIST)
      for (int i = 0; i < value.count; ++i) see(value.as.tensors[i]);
  }
  return worst;
}

// What was computed aside, or by another operator, is copied to the caller's tensor.
void store_in(const Call& call, const Tensor& given, const Tensor& output) {
  if (&output == &given) return;
  static const OperatorName copy("copy");
  check_given(given, output.sizes(), output.dtype());
  call_into(call, given, copy, given, output);
}

of_tensor hand_over(const Call& call, TensorRef& output) {
  if (call.infer_only && output->has_memory()) [[unlikely]]  // an operand itself
    output = Tensor::without_memory(output->sizes(), output->dtype(), output->device());
  return to_handle(output.detach());
}

void store_list(Call& call) {
  of_value& result = call.results[0];
  std::vector<TensorRef>& outputs = call.listed;
  if (const auto given = given_list(call); result.kind == OF_VALUE_TENSOR_LIST) {
    if (given.size() != outputs.size())
      fail(OF_INVALID_ARGUMENT, "the list to write to must have %zu tensors, got %zu", outputs.size(), given.size());
    for (size_t i = 0; i < given.size(); ++i)
      check_given(*to_tensor(given[i]), outputs[i]->sizes(), outputs[i]->dtype());  // before any is written
    for (size_t i = 0; i < given.size(); ++i) store_in(call, *to_tensor(given[i]), *outputs[i]);
    return;
  }
  of_tensor* tensors = new of_tensor[outputs.size()];  // release_value() deletes it
  for (size_t i = 0; i < outputs.size(); ++i) tensors[i] = hand_over(call, outputs[i]);
  result.kind = OF_VALUE_TENSOR_LIST;
  result.count = static_cast<int32_t>(outputs.size());
  result.as.tensors = tensors;
}

// Whether the memory of an operand that nobody else holds can be a result's.
bool fits_result(const Tensor& spare, const Call& call, Sizes sizes, of_dtype dtype) {
  return spare.dtype() == dtype && same_sizes(spare.sizes(), sizes) && spare.device() == call.device &&
         spare.is_contiguous() && spare.is_unique() && spare.has_memory() && spare.storage()->is_unique();
}

}  // namespace

void check_writable(const Tensor& tensor) {
  if (overlaps_itself(tensor.sizes(), tensor.strides()))
    fail(OF_INVALID_ARGUMENT, "cannot write to a tensor of which several elements share memory; clone it first");
}

void check_given(const Tensor& given, Sizes sizes, of_dtype dtype) {
  if (!same_sizes(given.sizes(), sizes))
    fail(OF_SHAPE_ERROR, "result of shape %s cannot be stored in a tensor of shape %s", to_text(sizes).c_str(),
         to_text(given.sizes()).c_str());
  if (!can_store(dtype, given.dtype()))
    fail(OF_DTYPE_ERROR, "result of type %s cannot be stored in %s", dtype_name(dtype), dtype_name(given.dtype()));
  check_writable(given);
}

Tensor& prepare_result(Call& call, int position, Sizes sizes, of_dtype dtype, Aliasing aliasing) {
  TensorRef& output = call.outputs[position];
  if (call.infer_only) [[unlikely]] {
    output = Tensor::without_memory(sizes, dtype, call.device);
    return *output;
  }
  if (const Tensor* given = given_result(call, position)) [[unlikely]] {
    check_given(*given, sizes, dtype);
    // Kernels do not write complex numbers: a copy makes them.
    if (is_complex(given->dtype()) && !is_complex(dtype))
      return *(output = Tensor::allocate(sizes, dtype, call.device));
    const Overlap found = overlap_with_operands(call, *given);
    if (found == Overlap::kNone || aliasing == Aliasing::kAllowed) {
      given->mutable_data();
      output = TensorRef::share(const_cast<Tensor*>(given));
      return *output;
    }
  }
  if (call.spare && aliasing == Aliasing::kAllowed && fits_result(*call.spare, call, sizes, dtype)) {
    call.spare->mutable_data();
    output = share(*call.spare);
  } else {
    output = Tensor::allocate(sizes, dtype, call.device);
  }
  return *output;
}

Tensor& prepare_exact_result(Call& call, int position, Sizes sizes, of_dtype dtype) {
  const Tensor* given = given_result(call, position);
  if (given && given->dtype() == dtype) return prepare_result(call, position, sizes, dtype, Aliasing::kForbidden);
  if (given) check_given(*given, sizes, dtype);
  TensorRef& output = call.outputs[position];
  output =
      call.infer_only ? Tensor::without_memory(sizes, dtype, call.device) : Tensor::allocate(sizes, dtype, call.device);
  return *output;
}

void set_result(Call& call, int position, TensorRef tensor) { call.outputs[position] = std::move(tensor); }

void set_results(Call& call, std::vector<TensorRef> tensors) { call.listed = std::move(tensors); }

std::span<const of_tensor> given_list(const Call& call) {
  if (!call.schema().gives_list || call.results[0].kind != OF_VALUE_TENSOR_LIST) return {};
  return {call.results[0].as.tensors, static_cast<size_t>(call.results[0].count)};
}

void store_results(Call& call) {
  if (call.schema().gives_list) [[unlikely]]
    return store_list(call);
  for (size_t i = 0; i < call.results.size(); ++i) {
    of_value& result = call.results[i];
    if (result.kind == OF_VALUE_TENSOR) {
      store_in(call, *to_tensor(result.as.tensor), *call.outputs[i]);
    }
  }
  for (size_t i = 0; i < call.results.size(); ++i) {
    of_value& result = call.results[i];
    if (result.kind == OF_VALUE_TENSOR) continue;
    result.kind = OF_VALUE_TENSOR;
    result.count = 0;
    result.as.tensor = hand_over(call, call.outputs[i]);
  }
}

}  // namespace oneflow
