// The kernels of `native` records; device_plugin.h documents their operands.
#ifndef ONEFLOW_DEVICES_GRID_NATIVE_H_
#define ONEFLOW_DEVICES_GRID_NATIVE_H_

#include <oneflow/device_plugin.h>

namespace oneflow::grid {

of_status index(const of_kernel_context* context);
of_status index_put(const of_kernel_context* context);
of_status nonzero(const of_kernel_context* context);
of_status randperm(const of_kernel_context* context);
of_status sort(const of_kernel_context* context);
of_status topk(const of_kernel_context* context);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_NATIVE_H_
