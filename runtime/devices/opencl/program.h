// OpenCL programs, which are compiled when one of their kernels is first launched, and cached on disk.
#ifndef ONEFLOW_DEVICES_OPENCL_PROGRAM_H_
#define ONEFLOW_DEVICES_OPENCL_PROGRAM_H_

#include <mutex>

#include "device.h"
#include "kernel.h"

namespace oneflow::opencl {

// A kernel that is compiled for one device. The mutex is held while arguments are set and the kernel is submitted.
struct Compiled {
  cl_kernel kernel;
  std::mutex mutex;
};

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_PROGRAM_H_
