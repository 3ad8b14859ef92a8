#include "dispatch/launch.h"

#include "base/interrupt.h"
#include "device/device.h"
#include "device/host_table.h"
#include "device/work_observer.h"

namespace oneflow {

namespace {

// Inlined into both callers, as each call of an operator passes here.
[[gnu::always_inline]] inline of_status run_kernel(const Kernel& kernel, const Call& call, const Launch& launch) {
  throw_if_interrupted();
  Device& at = get_device(call.device);
  of_kernel_context context;
  context.struct_size = sizeof(context);
  context.device = call.device;
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
  const of_status status = kernel.function(&context);
  if (work_observer && status == OF_OK) [[unlikely]]
    work_observer->see_kernel(kernel.function, context, launch.is_pointwise);
  return status;
}

}  // namespace

void launch(const Call& call, const Launch& launch) {
  const auto leave = [&] { leave_to_fallback(call, format_text("kernel for %s", dtype_name(launch.compute)).c_str()); };
  const Kernel kernel = call.op.kernel(launch.variant, launch.compute, call.device);
  if (!kernel) [[unlikely]]
    leave();
  const of_status status = run_kernel(kernel, call, launch);
  if (status == OF_OK) [[likely]]
    return;
  if (status != OF_UNSUPPORTED || call.device.type == kHost.type) fail_with_device_error(status);
  clear_device_error();
  leave();
}

bool launch_if_possible(const Call& call, const Launch& launch) {
  const Kernel kernel = call.op.kernel(launch.variant, launch.compute, call.device);
  if (!kernel) return false;
  const of_status status = run_kernel(kernel, call, launch);
  if (status == OF_OK) return true;
  if (status != OF_UNSUPPORTED) fail_with_device_error(status);
  clear_device_error();
  return false;
}

void leave_to_fallback(const Call& call, const char* missing) {
  throw MissingKernel(format_text("%s has no %s", device_name(call.device).c_str(), missing));
}

RandomState draw(Call& call, int generator, uint64_t count) {
  if (!call.random) call.random = call.generator(generator).reserve(count);
  note_other_work();
  return *call.random;
}

}  // namespace oneflow
