// Native operators whose results are views or plain copies.
#include <optional>

#include "device/device.h"
#include "dispatch/dispatch.h"
#include "ops/native.h"
#include "ops/parts.h"
#include "ops/view_functions.h"
#include "tensor/transfer.h"

namespace oneflow::native {

namespace {

constinit const OperatorName kCast("cast");
constinit const OperatorName kClone("clone");
constinit const OperatorName kCopy("copy");

// Returns strides with which a view of sizes `to` has the same elements in the same row-major order, or nothing if
// there are none.
//
// Groups the dimensions, from the last one on, into runs that a single stride traverses; the product of the sizes of
// each run must be the product of consecutive new sizes.
std::optional<Shape> strides_for(const Shape& sizes, const Shape& strides, const Shape& to) {
  if (count_elements(sizes) == 0) return contiguous_strides(to);
  Shape result(to.rank());
  int next = to.rank() - 1;  // the last new dimension that has no stride yet
  int64_t run = 1;           // the number of elements of the current run of old dimensions
  int64_t stride = 1;        // the stride between them
  for (int d = sizes.rank() - 1; d >= 0; --d) {
    if (run == 1 && sizes[d] != 1) stride = strides[d];
    run *= sizes[d];
    const bool run_continues = d > 0 && (sizes[d - 1] == 1 || run == 1 || strides[d - 1] == stride * run);
    if (run_continues) continue;
    int64_t filled = 1;
    while (next >= 0 && (filled < run || to[next] == 1)) {
      result[next] = stride * filled;
      filled *= to[next--];
    }
    if (filled != run) return std::nullopt;
    run = 1;
  }
  for (; next >= 0; --next) result[next] = 1;  // new dimensions of size 1 of a 0-d tensor
  return result;
}

// Returns `input` with other sizes for as many elements: a view if the strides allow it, otherwise a copy.
TensorRef with_sizes(const Call& call, const Tensor& input, const Shape& sizes) {
  if (call.infer_only || !input.has_memory()) return Tensor::without_memory(sizes, input.dtype(), input.device());
  if (const auto strides = strides_for(input.sizes(), input.strides(), sizes))
    return Tensor::view(input, sizes, *strides, input.offset());
  const TensorRef copy = Body(call).call(kClone, input);
  return Tensor::view(*copy, sizes, contiguous_strides(sizes), copy->offset());
}

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

// Returns the sizes with a -1 replaced by the size that it stands for. Throws ShapeError unless they fit the input.
Shape complete_sizes(const Tensor& input, Sizes requested) {
  const auto fail_count = [&] {
    fail(OF_SHAPE_ERROR, "shape %s does not hold the %lld elements of input", to_text(requested).c_str(),
         static_cast<long long>(input.count()));
  };
  Shape sizes(requested);
  int inferred = -1;
  for (int d = 0; d < sizes.rank(); ++d) {
    if (sizes[d] < -1) fail(OF_SHAPE_ERROR, "shape must not be negative, got %lld", static_cast<long long>(sizes[d]));
    if (sizes[d] != -1) continue;
    if (inferred >= 0) fail(OF_INVALID_ARGUMENT, "shape must have at most one -1, got %s", to_text(requested).c_str());
    inferred = d;
    sizes[d] = 1;
  }
  const int64_t count = count_elements(sizes);
  if (inferred >= 0) {
    if (count == 0) fail(OF_SHAPE_ERROR, "shape %s has a 0, so its -1 cannot be inferred", to_text(requested).c_str());
    if (input.count() % count != 0) fail_count();
    sizes[inferred] = input.count() / count;
  } else if (count != input.count()) {
    fail_count();
  }
  return sizes;
}

std::span<const of_tensor> joined_tensors(const Call& call) {
  const auto tensors = call.tensors(0);
  if (tensors.empty()) fail(OF_INVALID_ARGUMENT, "tensors must not be empty");
  return tensors;
}

}  // namespace

void reshape(Call& call) {
  const Tensor& input = call.tensor(0);
  set_result(call, 0, with_sizes(call, input, complete_sizes(input, call.integers(1))));
}

void view(Call& call) {
  const Tensor& input = call.tensor(0);
  const Shape sizes = complete_sizes(input, call.integers(1));
  if (!strides_for(input.sizes(), input.strides(), sizes))
    fail(OF_SHAPE_ERROR, "shape %s needs a copy of input, of shape %s with strides %s; use reshape",
         to_text(sizes).c_str(), to_text(input.sizes()).c_str(), to_text(input.strides()).c_str());
  set_result(call, 0, with_sizes(call, input, sizes));
}

void flatten(Call& call) {
  const Tensor& input = call.tensor(0);
  const int64_t first = call.integer(1), last = call.integer(2);
  if (first > last)
    fail(OF_INVALID_ARGUMENT, "start_dim must not come after end_dim, got %lld and %lld", static_cast<long long>(first),
         static_cast<long long>(last));
  Shape sizes;
  for (int d = 0; d < input.rank(); ++d) {
    if (d > first && d <= last)
      sizes.back() *= input.size(d);
    else
      sizes.push_back(input.size(d));
  }
  if (sizes.empty()) sizes.push_back(1);
  set_result(call, 0, with_sizes(call, input, sizes));
}

void contiguous(Call& call) {
  const Tensor& input = call.tensor(0);
  set_result(call, 0, input.is_contiguous() ? share(input) : Body(call).call(kClone, input));
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
  const Tensor& first = *to_tensor(tensors[0]);
  const int dim = static_cast<int>(call.integer(1));
  if (first.rank() == 0) fail(OF_SHAPE_ERROR, "tensors must have at least 1 dimension, got 0");
  Shape sizes = first.sizes();
  for (const of_tensor handle : tensors.subspan(1)) {
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
