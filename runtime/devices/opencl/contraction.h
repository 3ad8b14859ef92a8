// Contractions: by the shared kernels of grid devices on GPUs, and by loops over packed panels on CPU devices.
#ifndef ONEFLOW_DEVICES_OPENCL_CONTRACTION_H_
#define ONEFLOW_DEVICES_OPENCL_CONTRACTION_H_

#include <oneflow/device_plugin.h>

namespace oneflow::opencl {

of_status contract(const of_contraction* contraction);

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_CONTRACTION_H_
