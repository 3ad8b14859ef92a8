// Programs, compiled when a kernel of theirs is first launched, and kept on disk.
#ifndef ONEFLOW_DEVICES_OPENCL_PROGRAM_H_
#define ONEFLOW_DEVICES_OPENCL_PROGRAM_H_

#include <atomic>
#include <mutex>

#include "device.h"

namespace oneflow::opencl {

// The text of some kernels.
struct Program {
  const char* name;
  const char* text;
};

// A kernel that is ready on one device. Setting arguments and submitting is one step.
struct Compiled {
  cl_kernel kernel;
  std::mutex mutex;
};

// One kernel of a text, for one compute type and storage of operands.
class Kernel {
 public:
  Kernel(const Program& program, const char* name, of_dtype compute, int32_t storage)
      : program_(program), name_(name), compute_(compute), storage_(storage) {}

  // Compiled for the device; NULL with an error text when that failed.
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
