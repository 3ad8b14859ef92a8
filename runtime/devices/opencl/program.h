// OpenCL programs, which are compiled when one of their kernels is first launched, and cached on disk.
#ifndef ONEFLOW_DEVICES_OPENCL_PROGRAM_H_
#define ONEFLOW_DEVICES_OPENCL_PROGRAM_H_

#include <atomic>
#include <mutex>

#include "device.h"

namespace oneflow::opencl {

// The source text of a group of kernels.
struct Program {
  const char* name;
  const char* text;
};

// A kernel that is compiled for one device. The mutex is held while arguments are set and the kernel is submitted.
struct Compiled {
  cl_kernel kernel;
  std::mutex mutex;
};

// A kernel of a program, for one compute type and one storage of operands.
class Kernel {
 public:
  Kernel(const Program& program, const char* name, of_dtype compute, int32_t storage)
      : program_(program), name_(name), compute_(compute), storage_(storage) {}

  // Returns the kernel for a device and compiles it on first use. Returns NULL and sets the error text on failure.
  Compiled* on(of_device device) {
    Compiled* compiled = compiled_[device.index].load(std::memory_order_acquire);
    return compiled != nullptr ? compiled : compile(device);
  }

 private:
  Compiled* compile(of_device device);

  const Program& program_;
  const char* name_;
  of_dtype compute_;
  int32_t storage_;
  std::atomic<Compiled*> compiled_[kMostDevices] = {};
};

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_PROGRAM_H_
