// Implements the interface of ../grid/driver.h with OpenCL.
#include "../grid/driver.h"
#include "../grid/kernels/fold_layout.h"
#include "../grid/sorting.h"
#include "program.h"

namespace oneflow::grid {
namespace {

using opencl::Compiled;
using opencl::Kernel;

cl_int set_argument(cl_kernel kernel, cl_uint position, const Arguments::Argument& argument) {
  if (!argument.is_pointer) return clSetKernelArg(kernel, position, argument.bytes, argument.value);
  const void* memory = *static_cast<const void* const*>(argument.value);
  return memory != nullptr ? clSetKernelArgSVMPointer(kernel, position, memory)
                           : clSetKernelArg(kernel, position, sizeof(cl_mem), nullptr);
}

}  // namespace

of_status launch(const of_kernel_context& context, Handle handle, const Geometry& geometry,
                 const Arguments& arguments) {
  if (const of_status status = opencl::check_process(); status != OF_OK) return status;
  // A handle points to a Kernel in a table. It is modified only when it is compiled for a device.
  auto& kernel = *static_cast<Kernel*>(const_cast<void*>(handle));
  Compiled* compiled = kernel.on(context.device);
  if (compiled == nullptr) return OF_DEVICE_ERROR;
  const std::lock_guard lock(compiled->mutex);
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < arguments.count() && code == CL_SUCCESS; ++i)
    code = set_argument(compiled->kernel, static_cast<cl_uint>(i), arguments[i]);
  if (code == CL_SUCCESS && geometry.local_bytes != 0)
    code = clSetKernelArg(compiled->kernel, static_cast<cl_uint>(arguments.count()), geometry.local_bytes, nullptr);
  if (code == CL_SUCCESS) {
    const size_t items[] = {geometry.items, 1};
    const size_t all[] = {size_t{geometry.groups} * geometry.items, geometry.groups_y};
    code = clEnqueueNDRangeKernel(opencl::stream_of(context.stream).queue, compiled->kernel, 2, nullptr, all, items, 0,
                                  nullptr, nullptr);
  }
  return opencl::check(context.device, code, "launch a kernel");
}

Run flat_run(of_device, uint32_t) { return {.length = 1, .items = 256}; }

of_status sort_lines(const of_kernel_context& context, Sorting& sorting) { return merge_sort(context, sorting); }
StridedRun strided_run(of_device device) { return {.in_blocks = opencl::device_of(device).is_processor, .length = 1}; }

FoldRun fold_run(of_device device, uint32_t) {
  if (!opencl::device_of(device).is_processor) {
    return {.items = OF_FOLD_ITEMS,
            .line_lanes = OF_LOCKSTEP_LANES,
            .row_lanes = OF_LOCKSTEP_LANES,
            .packs = false,
            .needs_unit_stride = false,
            .min_lane_size = 1,
            .groups = 1024,
            .item_elements = 2 * OF_FOLD_STEPS * OF_LOCKSTEP_LANES};
  }
  return {.items = 1,
          .line_lanes = OF_PROCESSOR_LINE_LANES,
          .row_lanes = OF_PROCESSOR_ROW_LANES,
          .packs = false,
          .needs_unit_stride = true,
          .min_lane_size = 16,
          .groups = 256,
          .item_elements = 64 * 1024};
}

bool has_doubles(of_device device) { return opencl::device_of(device).has_double; }

}  // namespace oneflow::grid
