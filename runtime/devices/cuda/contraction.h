// Contractions: matrix products by cuBLASLt where it is available, all others by the shared kernels of grid devices.
#ifndef ONEFLOW_DEVICES_CUDA_CONTRACTION_H_
#define ONEFLOW_DEVICES_CUDA_CONTRACTION_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cuda {

of_status contract(const of_contraction* contraction);
// Sets an option. "cuda_allow_tf32": whether products of float32 may round their factors to 11 significant bits (TF32),
// which is much faster.
of_status set_option(const char* name, int64_t value);
of_status get_option(const char* name, int64_t* value);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_CONTRACTION_H_
