// Native operators that copy, and create memory.
#include <algorithm>

#include "device/device.h"
#include "dispatch/dispatch.h"
#include "ops/native.h"
#include "ops/parts.h"
#include "tensor/create.h"
#include "tensor/transfer.h"

namespace oneflow::native {

namespace {

constinit const OperatorName kCast("cast");
constinit const OperatorName kClone("clone");
constinit const OperatorName kCopy("copy");

// Returns a newly computed tensor on the device of the call, copied if it is on another one.
TensorRef on_device(const Call& call, TensorRef computed) {
  return computed->device() == call.device ? std::move(computed) : copy_to_device(*computed, call.device);
}

// Returns a contiguous copy on the device of the call.
TensorRef contiguous_copy(const Call& call, const Tensor& input) {
  // Copies between devices rearrange the elements of a strided tensor on the host. A device that has a clone kernel
  // makes the tensor contiguous itself instead.
  if (input.is_contiguous() || !(*kClone).kernel(0, compute_type(input.dtype()), input.device()))
    return copy_to_device(input, call.device);
  return on_device(call, Body(call).call(kClone, input));
}

std::span<const of_tensor> joined_tensors(const Call& call) {
  const auto tensors = call.tensors(0);
  if (tensors.empty()) fail(OF_INVALID_ARGUMENT, "tensors must not be empty");
  return tensors;
}

// Returns whether `cat` skips a tensor: as in PyTorch, a vector without elements joins tensors of any shape.
bool is_empty_vector(of_tensor handle) {
  const Tensor& tensor = *to_tensor(handle);
  return tensor.rank() == 1 && tensor.size(0) == 0;
}

}  // namespace

void contiguous(Call& call) {
  const Tensor& input = call.tensor(0);
  // A graph keeps the call: its strides are known when it runs.
  if (call.infer_only) return set_result(call, 0, Tensor::without_memory(input.sizes(), input.dtype(), call.device));
  set_result(call, 0, input.is_contiguous() ? share(input) : Body(call).call(kClone, input));
}

void lazy_clone(Call& call) {
  const Tensor& input = call.tensor(0);
  TensorRef shared = oneflow::lazy_clone(input);
  set_result(call, 0, shared ? std::move(shared) : Body(call).call(kClone, input));
}

void to_device(Call& call) {
  const Tensor& input = call.tensor(0);
  const of_dtype dtype = resolve_dtypes(call).results[0];
  if (call.infer_only) return set_result(call, 0, Tensor::without_memory(input.sizes(), dtype, call.device));
  const auto convert = [&](const Tensor& tensor) { return Body(call).call(kCast, tensor, call.arguments[2]); };
  if (dtype == input.dtype()) return set_result(call, 0, contiguous_copy(call, input));
  // Converts on the device where the conversion leaves the smaller elements to transfer.
  if (!(input.device() == call.device) && dtype_size(dtype) > input.element_bytes())
    return set_result(call, 0, convert(*contiguous_copy(call, input)));
  set_result(call, 0, on_device(call, convert(input)));
}

void pin_memory(Call& call) {
  const Tensor& input = call.tensor(0);
  Device* locking = call.is_given(1) ? &get_device(call.device) : nullptr;
  call.device = input.device();
  if (call.infer_only) return set_result(call, 0, Tensor::without_memory(input.sizes(), input.dtype(), call.device));
  if (!get_device(input.device()).host_accessible())
    fail(OF_DEVICE_ERROR, "input must be in memory that the host can reach, got a tensor on %s",
         device_name(input.device()).c_str());
  set_result(call, 0, copy_page_locked(input, locking));
}

void cat(Call& call) {
  const auto tensors = joined_tensors(call);
  const auto found = std::find_if_not(tensors.begin(), tensors.end(), is_empty_vector);
  const auto begin = found == tensors.end() ? tensors.begin() : found;
  const Tensor& first = *to_tensor(*begin);
  const int dim = static_cast<int>(call.integer(1));
  if (first.rank() == 0) fail(OF_SHAPE_ERROR, "tensors must have at least 1 dimension, got 0");
  Shape sizes = first.sizes();
  for (const of_tensor handle : std::span(begin + 1, tensors.end())) {
    if (is_empty_vector(handle)) continue;
    const Tensor& tensor = *to_tensor(handle);
    if (tensor.rank() != first.rank())
      fail(OF_SHAPE_ERROR, "tensors must have the same number of dimensions, got %d and %d", first.rank(),
           tensor.rank());
    for (int d = 0; d < first.rank(); ++d) {
      if (d != dim && tensor.size(d) != first.size(d))
        fail(OF_SHAPE_ERROR, "shapes %s and %s differ in dimension %d", to_text(first.sizes()).c_str(),
             to_text(tensor.sizes()).c_str(), d);
    }
    if (__builtin_add_overflow(sizes[dim], tensor.size(dim), &sizes[dim]))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  }

  const Tensor& result = prepare_result(call, 0, sizes, resolve_dtypes(call).results[0], Aliasing::kForbidden);
  if (call.infer_only) return;
  int64_t start = 0;
  for (const of_tensor handle : tensors) {
    if (is_empty_vector(handle)) continue;
    const Tensor& tensor = *to_tensor(handle);
    const TensorRef target = narrow(result, dim, {start, tensor.size(dim)});
    call_into(call, *target, kCopy, target, tensor);
    start += tensor.size(dim);
  }
}

void empty(Call& call) {
  for (const int64_t size : call.integers(0))
    if (size < 0) fail(OF_SHAPE_ERROR, "size must not be negative, got %lld", static_cast<long long>(size));
  prepare_result(call, 0, call.integers(0), resolve_dtypes(call).results[0], Aliasing::kForbidden);
}

}  // namespace oneflow::native
