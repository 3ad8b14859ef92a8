#include "dispatch/launch.h"

#include <vector>

#include "device/copy.h"
#include "device/device.h"
#include "device/host_table.h"
#include "device/options.h"
#include "tensor/copy_strided.h"

namespace oneflow {

namespace {

void fail_missing(const Call& call, of_dtype compute) {
  fail(OF_UNSUPPORTED, "%s has no kernel for %s", device_name(call.device).c_str(), dtype_name(compute));
}

of_status run_kernel(const Kernel& kernel, const Call& call, const Launch& launch, of_device device) {
  Device& at = get_device(device);
  of_kernel_context context;
  context.struct_size = sizeof(context);
  context.device = device;
  context.stream = at.stream();
  context.host = &host_table();
  context.user = kernel.user;
  context.op = call.name;
  context.input_count = static_cast<int32_t>(launch.inputs.size());
  context.output_count = static_cast<int32_t>(launch.outputs.size());
  context.inputs = launch.inputs.data();
  context.outputs = launch.outputs.data();
  context.arguments = launch.arguments ? launch.arguments : call.arguments;
  context.argument_count = static_cast<int32_t>(call.schema().arguments.size());
  context.compute = launch.compute;
  context.reduced = launch.reduced;
  context.seed = launch.seed;
  context.offset = launch.offset;
  context.whole_sizes = launch.box ? launch.box->whole_sizes : nullptr;
  context.origin = launch.box ? launch.box->origin : nullptr;
  return kernel.function(&context);
}

// A copy in host memory of the memory that an operand spans, with the operand's strides.
class HostCopy {
 public:
  HostCopy(const of_kernel_tensor& operand, of_device device) : device_(device), original_(operand) {
    if (!operand.data) return;
    const auto rank = static_cast<size_t>(operand.rank);
    span_ = span_of({operand.sizes, rank}, {operand.strides, rank}, operand.dtype);
    if (span_.bytes == 0) return;
    memory_ = Buffer::allocate(kHost, static_cast<uint64_t>(span_.bytes));
    copy_to_host(memory_->data(), device_, static_cast<const char*>(operand.data) - span_.before,
                 static_cast<uint64_t>(span_.bytes));
  }

  of_kernel_tensor operand() const {
    of_kernel_tensor copy = original_;
    if (memory_) copy.data = static_cast<char*>(memory_->data()) + span_.before;
    return copy;
  }
  // Writes the elements back. Those between them, if the operand is a view with gaps, keep their present values, which
  // another operand may have written.
  void write_back() const {
    if (!memory_) return;
    const Sizes sizes{original_.sizes, static_cast<size_t>(original_.rank)};
    const Sizes strides{original_.strides, static_cast<size_t>(original_.rank)};
    char* const there = static_cast<char*>(original_.data) - span_.before;
    const auto bytes = static_cast<uint64_t>(span_.bytes);
    if (count_bytes(sizes, original_.dtype) == span_.bytes)
      return copy_from_host(device_, there, memory_->data(), bytes);
    const Ref<Buffer> present = Buffer::allocate(kHost, bytes);
    copy_to_host(present->data(), device_, there, bytes);
    copy_strided(static_cast<char*>(present->data()) + span_.before, strides,
                 static_cast<const char*>(memory_->data()) + span_.before, strides, sizes, dtype_size(original_.dtype));
    copy_from_host(device_, there, present->data(), bytes);
  }

 private:
  of_device device_;
  of_kernel_tensor original_;
  Ref<Buffer> memory_;
  Span span_{};
};

// Runs the host's kernel on copies of all operands, and copies the results back.
void run_on_host(const Call& call, const Launch& launch) {
  const Kernel kernel = call.op.kernel(launch.variant, launch.compute, kHost);
  if (!kernel || fallback_is_error()) fail_missing(call, launch.compute);
  call.op.count_fallback();

  std::vector<HostCopy> copies;
  std::vector<of_kernel_tensor> operands;
  copies.reserve(launch.inputs.size() + launch.outputs.size());
  operands.reserve(copies.capacity());
  for (const of_kernel_tensor& input : launch.inputs)
    operands.push_back(copies.emplace_back(input, call.device).operand());
  for (const of_kernel_tensor& output : launch.outputs)
    operands.push_back(copies.emplace_back(output, call.device).operand());

  Launch on_host = launch;
  on_host.inputs = {operands.data(), launch.inputs.size()};
  on_host.outputs = {operands.data() + launch.inputs.size(), launch.outputs.size()};
  check(run_kernel(kernel, call, on_host, kHost));
  get_device(kHost).synchronize();
  for (size_t i = launch.inputs.size(); i < copies.size(); ++i) copies[i].write_back();
}

}  // namespace

void launch(const Call& call, const Launch& launch) {
  const bool is_host = call.device.type == kHost.type;
  const Kernel kernel = call.op.kernel(launch.variant, launch.compute, call.device);
  if (!kernel) [[unlikely]] {
    if (is_host) fail_missing(call, launch.compute);
    return run_on_host(call, launch);
  }
  const of_status status = run_kernel(kernel, call, launch, call.device);
  if (status == OF_OK) [[likely]]
    return;
  if (status != OF_UNSUPPORTED || is_host) fail_with_device_error(status);
  clear_device_error();
  run_on_host(call, launch);
}

}  // namespace oneflow
