// The hand-written kernels, of operators whose records are `native`; device_plugin.h documents their operands.
#ifndef ONEFLOW_DEVICES_CPU_NATIVE_NATIVE_H_
#define ONEFLOW_DEVICES_CPU_NATIVE_NATIVE_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

of_status index(const of_kernel_context& context);
of_status index_put(const of_kernel_context& context);
of_status nonzero(const of_kernel_context& context);
of_status randperm(const of_kernel_context& context);
of_status sort(const of_kernel_context& context);
of_status topk(const of_kernel_context& context);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_NATIVE_NATIVE_H_
