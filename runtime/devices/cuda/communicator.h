// The hooks for communication with GPUs of other processes, by NCCL.
#ifndef ONEFLOW_DEVICES_CUDA_COMMUNICATOR_H_
#define ONEFLOW_DEVICES_CUDA_COMMUNICATOR_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cuda {

extern const of_communicator_hooks kCommunicator;

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_COMMUNICATOR_H_
