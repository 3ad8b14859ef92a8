// Contractions: as on all grid devices, but for processors, whose loops and caches want another geometry.
#ifndef ONEFLOW_DEVICES_OPENCL_CONTRACTION_H_
#define ONEFLOW_DEVICES_OPENCL_CONTRACTION_H_

#include <oneflow/device_plugin.h>

namespace oneflow::opencl {

of_status contract(const of_contraction* contraction);

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_CONTRACTION_H_
