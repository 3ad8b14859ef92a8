// Implements the interface of ../grid/driver.h with CUDA. The handle of a kernel is the address of its host stub, so
// that no kernel is looked up by name.
#include <algorithm>
#include <cstddef>

#include "../grid/driver.h"
#include "../grid/kernels/fold_layout.h"
#include "device.h"

namespace oneflow::grid {
namespace {

constexpr uint32_t kItems = 256;
constexpr uint32_t kPacket = 16;  // bytes of one access
constexpr uint32_t kMostLanes = 8;
constexpr uint32_t kGroups = 1024;  // groups of reductions: several for each multiprocessor of the largest GPUs

}  // namespace

of_status launch(const of_kernel_context& context, Handle handle, const Geometry& geometry,
                 const Arguments& arguments) {
  const cuda::OnDevice on(context.device);
  if (on.status() != OF_OK) return on.status();
  void* values[Arguments::kMost];
  for (int i = 0; i < arguments.count(); ++i) values[i] = const_cast<void*>(arguments[i].value);
  const cudaError_t code = cudaLaunchKernel(handle, dim3(geometry.groups, geometry.groups_y), dim3(geometry.items),
                                            values, geometry.local_bytes, cuda::stream_of(context.stream).queue);
  return cuda::check(context.device, code, "launch a kernel");
}

// Agrees with of_run and OF_STRIDED_RUN in ../grid/kernels/runs.h.
Run flat_run(of_device, uint32_t bytes) { return {(bytes == 4 ? 2 : 1) * kPacket / bytes, kItems}; }
StridedRun strided_run(of_device) { return {.in_blocks = false, .length = 4}; }

FoldRun fold_run(of_device, uint32_t bytes) {
  const uint32_t lanes = std::min(kPacket / bytes, kMostLanes);
  return {.items = OF_FOLD_ITEMS,
          .line_lanes = lanes,
          .row_lanes = lanes,
          .packs = true,
          .needs_unit_stride = false,
          .min_lane_size = 1,
          .groups = kGroups,
          .item_elements = int64_t{2} * OF_FOLD_STEPS * lanes};
}

bool has_doubles(of_device) { return true; }

}  // namespace oneflow::grid
