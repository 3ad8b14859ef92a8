// Contractions: products of matrices go to cuBLASLt where it is there, everything else to the kernels of all grid
// devices.
#ifndef ONEFLOW_DEVICES_CUDA_CONTRACTION_H_
#define ONEFLOW_DEVICES_CUDA_CONTRACTION_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cuda {

of_status contract(const of_contraction* contraction);
// "cuda_allow_tf32": whether products of float32 may be made of factors rounded to 11 bits, which is much faster.
of_status set_option(const char* name, int64_t value);
of_status get_option(const char* name, int64_t* value);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_CONTRACTION_H_
