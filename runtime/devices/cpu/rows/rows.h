// Kernels of composites that read each row several times. They leave layouts whose rows are not contiguous, and dtypes
// other than float32 and float64, to the bodies of the composites: they then return OF_UNSUPPORTED.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_ROWS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_ROWS_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

of_status softmax(const of_kernel_context& context);
of_status softmax_gradient(const of_kernel_context& context);
of_status log_softmax(const of_kernel_context& context);
of_status log_softmax_gradient(const of_kernel_context& context);
of_status standardize(const of_kernel_context& context);
of_status standardize_gradient(const of_kernel_context& context);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_ROWS_H_
