// All kernels of this backend, by name.
#ifndef ONEFLOW_DEVICES_CPU_KERNELS_H_
#define ONEFLOW_DEVICES_CPU_KERNELS_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// The kernel for an operator (with its variant: "gelu:tanh") in a compute type; NULL when there is none, or when it was
// made from another definition than `schema_hash` stands for.
of_kernel find_kernel(const char* name, uint64_t schema_hash, of_dtype compute);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_KERNELS_H_
