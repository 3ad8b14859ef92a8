// The kernels of OpenCL programs. A library of operators has such objects, too, which the plugin compiles.
#ifndef ONEFLOW_DEVICES_OPENCL_KERNEL_H_
#define ONEFLOW_DEVICES_OPENCL_KERNEL_H_

#include <oneflow/device_plugin.h>

#include <atomic>

namespace oneflow::opencl {

constexpr int kMostDevices = 16;

// The source text of a group of kernels.
struct Program {
  const char* name;
  const char* text;
};

struct Compiled;

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

#endif  // ONEFLOW_DEVICES_OPENCL_KERNEL_H_
