// The lookup of kernels in the generated tables.
#ifndef ONEFLOW_DEVICES_GRID_FIND_KERNEL_H_
#define ONEFLOW_DEVICES_GRID_FIND_KERNEL_H_

#include <oneflow/device_plugin.h>

namespace oneflow::grid {

// Finds the kernel of that name, schema hash and compute type. A hook of the device table.
of_status find_kernel(of_device device, const char* name, uint64_t kernel_id, of_dtype compute, of_kernel_entry* entry);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_FIND_KERNEL_H_
