// Lookup of this backend's kernels, generated and hand-written ones, by name and compute type.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_KERNEL_TABLE_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_KERNEL_TABLE_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// Returns the kernel of an operator and variant, such as "gelu:tanh", in a compute type. Returns NULL if there is none,
// or if it was generated from a definition with another id than `kernel_id`.
of_kernel find_kernel(const char* name, uint64_t kernel_id, of_dtype compute);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_KERNEL_TABLE_H_
