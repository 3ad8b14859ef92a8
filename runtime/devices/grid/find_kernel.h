// The lookup of kernels in the generated tables.
#ifndef ONEFLOW_DEVICES_GRID_FIND_KERNEL_H_
#define ONEFLOW_DEVICES_GRID_FIND_KERNEL_H_

#include <oneflow/device_plugin.h>

namespace oneflow::grid {

// Returns the kernel of that name, schema hash and compute type, or NULL. A hook of the device table.
of_kernel find_kernel(const char* name, uint64_t kernel_id, of_dtype compute);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_FIND_KERNEL_H_
