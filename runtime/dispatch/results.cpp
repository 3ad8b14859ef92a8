// Prepares and stores the results of calls: new tensors, or the caller's tensors in the `out` and in-place forms.
#include "device/device.h"
#include "dispatch/call.h"
#include "dispatch/dispatch.h"
#include "tensor/overlap.h"

namespace oneflow {

namespace {

// Returns whether a result can be stored in a tensor of dtype `in`. Its category must not decrease: a floating-point
// number is not stored in an integer, nor an integer in a bool.
bool can_store(of_dtype result, of_dtype in) { return category(in) >= category(result); }

// Returns the caller's tensor for a result; null if the result is to be allocated.
const Tensor* given_result(const Call& call, int position) {
  const of_value& value = call.results[position];
  return value.kind == OF_VALUE_TENSOR ? to_tensor(value.as.tensor) : nullptr;
}

// Returns kExact if an operand has the same elements as the caller's tensor for a result, else kNone. Throws
// InvalidArgument if an operand overlaps it in part.
Overlap overlap_with_operands(const Call& call, const Tensor& given) {
  Overlap result = Overlap::kNone;
  const auto check = [&](of_tensor operand) {
    if (!operand) return;
    const Overlap found = to_tensor(operand) == &given ? Overlap::kExact : overlap(given, *to_tensor(operand));
    if (found == Overlap::kPartial)
      fail(OF_INVALID_ARGUMENT, "the tensor to write to overlaps an operand in part; clone the operand first");
    if (found == Overlap::kExact) result = Overlap::kExact;
  };
  for (const uint8_t argument : call.op.tensor_arguments()) {
    const of_value& value = call.arguments[argument];
    if (value.kind == OF_VALUE_TENSOR) check(value.as.tensor);
    if (value.kind == OF_VALUE_TENSOR_LIST)
      for (int i = 0; i < value.count; ++i) check(value.as.tensors[i]);
  }
  return result;
}

// Copies an output to the caller's tensor, unless the kernel has written to it directly.
void store_in(const Call& call, const Tensor& given, const Tensor& output) {
  if (&output == &given) return;
  static const OperatorName copy("copy");
  check_destination(given, output.sizes(), output.dtype());
  if (call.infer_only) return;
  call_into(call, given, copy, given, output);
}

// Makes an output of inference that is an operand one without memory.
void remove_memory(const Call& call, TensorRef& output) {
  if (call.infer_only && output->has_memory()) [[unlikely]]
    output = Tensor::without_memory(output->sizes(), output->dtype(), output->device());
}

void store_list(Call& call) {
  of_value& result = call.results[0];
  std::vector<TensorRef>& outputs = call.output_list;
  if (const auto given = destination_list(call); result.kind == OF_VALUE_TENSOR_LIST) {
    if (given.size() != outputs.size())
      fail(OF_INVALID_ARGUMENT, "the list to write to must have %zu tensors, got %zu", outputs.size(), given.size());
    for (size_t i = 0; i < given.size(); ++i)
      check_destination(*to_tensor(given[i]), outputs[i]->sizes(), outputs[i]->dtype());  // before any is written
    for (size_t i = 0; i < given.size(); ++i) store_in(call, *to_tensor(given[i]), *outputs[i]);
    return;
  }
  for (TensorRef& output : outputs) remove_memory(call, output);
  of_tensor* tensors = new of_tensor[outputs.size()];  // freed by release_value()
  for (size_t i = 0; i < outputs.size(); ++i) tensors[i] = to_handle(outputs[i].detach());
  result.kind = OF_VALUE_TENSOR_LIST;
  result.count = static_cast<int32_t>(outputs.size());
  result.as.tensors = tensors;
}

// Returns whether a result can reuse the memory of a donated operand: it must have the layout of the result, and no
// other references to it may exist.
bool fits_result(const Tensor& donated, const Call& call, Sizes sizes, of_dtype dtype) {
  return donated.dtype() == dtype && same_sizes(donated.sizes(), sizes) && donated.device() == call.device &&
         donated.is_contiguous() && donated.is_unique() && donated.has_memory() && donated.storage()->is_unique() &&
         donated.carried_layers() == 0;
}

}  // namespace

void check_writable(const Tensor& tensor) {
  if (overlaps_itself(tensor.sizes(), tensor.strides()))
    fail(OF_INVALID_ARGUMENT, "cannot write to a tensor of which several elements share memory; clone it first");
}

void check_destination(const Tensor& destination, Sizes sizes, of_dtype dtype) {
  if (!same_sizes(destination.sizes(), sizes))
    fail(OF_SHAPE_ERROR, "result of shape %s cannot be stored in a tensor of shape %s", to_text(sizes).c_str(),
         to_text(destination.sizes()).c_str());
  if (!can_store(dtype, destination.dtype()))
    fail(OF_DTYPE_ERROR, "result of type %s cannot be stored in %s", dtype_name(dtype),
         dtype_name(destination.dtype()));
  check_writable(destination);
}

Tensor& prepare_result(Call& call, int position, Sizes sizes, of_dtype dtype, Aliasing aliasing) {
  TensorRef& output = call.outputs[position];
  if (call.infer_only) [[unlikely]] {
    output = Tensor::without_memory(sizes, dtype, call.device);
    return *output;
  }
  if (const Tensor* given = given_result(call, position)) [[unlikely]] {
    check_destination(*given, sizes, dtype);
    if (given->has_memory()) given->storage()->set_last_writer(call.name);
    // A kernel with a real result cannot write to a complex tensor: store_results() converts the result.
    if (is_complex(given->dtype()) && !is_complex(dtype))
      return *(output = Tensor::allocate(sizes, dtype, call.device));
    const Overlap found = overlap_with_operands(call, *given);
    if (found == Overlap::kNone || aliasing == Aliasing::kAllowed) {
      given->mutable_data();
      output = TensorRef::share(const_cast<Tensor*>(given));
      return *output;
    }
  }
  if (call.donated && aliasing == Aliasing::kAllowed && fits_result(*call.donated, call, sizes, dtype)) {
    call.donated->mutable_data();
    output = share(*call.donated);
  } else {
    output = Tensor::allocate(sizes, dtype, call.device);
  }
  return *output;
}

Tensor& prepare_exact_result(Call& call, int position, Sizes sizes, of_dtype dtype) {
  const Tensor* given = given_result(call, position);
  if (given && given->dtype() == dtype) return prepare_result(call, position, sizes, dtype, Aliasing::kForbidden);
  if (given) check_destination(*given, sizes, dtype);
  TensorRef& output = call.outputs[position];
  output =
      call.infer_only ? Tensor::without_memory(sizes, dtype, call.device) : Tensor::allocate(sizes, dtype, call.device);
  return *output;
}

void prepare_writes(const Call& call) {
  if (call.infer_only || !call.op.writes_arguments()) return;
  const auto& declared = call.schema().arguments;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!declared[i].is_written) continue;
    for_each_given({&call.arguments[i], 1}, [](const Tensor& tensor) {
      if (tensor.has_memory()) tensor.storage()->make_writable();
    });
  }
}

void set_result(Call& call, int position, TensorRef tensor) { call.outputs[position] = std::move(tensor); }

void set_results(Call& call, std::vector<TensorRef> tensors) { call.output_list = std::move(tensors); }

std::span<const of_tensor> destination_list(const Call& call) {
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
    } else {
      remove_memory(call, call.outputs[i]);
    }
  }
  for (size_t i = 0; i < call.results.size(); ++i) {
    of_value& result = call.results[i];
    if (result.kind == OF_VALUE_TENSOR) continue;
    result.kind = OF_VALUE_TENSOR;
    result.count = 0;
    result.as.tensor = to_handle(call.outputs[i].detach());
  }
}

}  // namespace oneflow
