// The OpenCL devices of this machine, and the plugin's state for each of them.
#ifndef ONEFLOW_DEVICES_OPENCL_DEVICE_H_
#define ONEFLOW_DEVICES_OPENCL_DEVICE_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <oneflow/device_plugin.h>

#include <atomic>
#include <string>
#include <vector>

#include "../grid/host.h"
#include "kernel.h"

namespace oneflow::opencl {

struct Device {
  cl_device_id id;
  cl_context context;
  int32_t index;
  std::string identity;  // what compiled programs depend on: the device, its OpenCL version and its driver
  bool keeps_programs;   // whether the driver caches compiled programs on disk itself
  bool has_double;
  bool is_processor;  // a CPU device: its work-items run loops of their own, rather than in lockstep
  int vector_bytes;   // of a vector register
};

// A command queue, and the report in which its kernels record their first error.
struct Stream {
  cl_command_queue queue = nullptr;
  of_report* report = nullptr;               // in device memory; allocated for the first kernel that may fail
  std::atomic<bool> may_have_failed{false};  // whether a kernel that may fail ran since the last synchronisation
};

// Returns the usable devices, GPUs first. They are found at the first call.
const std::vector<Device>& devices();
// Returns why other devices cannot be used, as a text for users.
const std::string& rejected();
inline const Device& device_of(of_device id) { return devices()[static_cast<size_t>(id.index)]; }
inline Stream& stream_of(of_device_stream stream) { return *reinterpret_cast<Stream*>(stream); }

// Returns the status of an OpenCL call, and sets the error text on failure: "could not <what>". Errors after which the
// device cannot be used any more are reported to the runtime as its loss.
of_status check(of_device device, cl_int code, const char* what);
// Returns DeviceError in a process that was forked after devices were first used: it has not inherited the threads and
// queues of their drivers.
of_status check_process();

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_DEVICE_H_
