// The drivers' launches as CUDA's: the handle of a kernel is what its stub registered, nothing is looked up by name.
#include <cstddef>

#include "../grid/driver.h"
#include "device.h"

namespace oneflow::grid {
namespace {

constexpr uint32_t kItems = 256;
constexpr uint32_t kPacket = 16;  // bytes of one access

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

// As in ../grid/kernels/runs.h.
Run flat_run(of_device, uint32_t bytes) { return {(bytes == 4 ? 2 : 1) * kPacket / bytes, kItems}; }
uint32_t strided_run() { return 4; }

}  // namespace oneflow::grid
