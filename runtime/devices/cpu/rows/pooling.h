// The kernels of pooling. They leave layouts that are not contiguous, three dimensions, and dtypes other than float32
// and float64 to the bodies of the composites: they then return OF_UNSUPPORTED.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_POOLING_H_
#define ONEFLOW_DEVICES_CPU_ROWS_POOLING_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

of_status max_pool(const of_kernel_context& context);
of_status avg_pool(const of_kernel_context& context);
of_status max_pool_gradient(const of_kernel_context& context);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_POOLING_H_
