// Lookup of this backend's kernels, generated and hand-written ones, by name and compute type.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_KERNEL_TABLE_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_KERNEL_TABLE_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// The hook of the device table: gives the kernel of an operator and variant, such as "gelu:tanh", in a compute type.
// Returns OF_UNSUPPORTED if there is none, or if it was generated from a definition with another id than `kernel_id`.
of_status find_kernel(of_device device, const char* name, uint64_t kernel_id, of_dtype compute, of_kernel_entry* entry);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_KERNEL_TABLE_H_
