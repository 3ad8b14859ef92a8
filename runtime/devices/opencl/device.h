// The OpenCL devices of this machine, and what the plugin keeps for each of them.
#ifndef ONEFLOW_DEVICES_OPENCL_DEVICE_H_
#define ONEFLOW_DEVICES_OPENCL_DEVICE_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <oneflow/device_plugin.h>

#include <atomic>
#include <string>
#include <vector>

#include "../grid/host.h"

namespace oneflow::opencl {

constexpr int kMostDevices = 16;

struct Device {
  cl_device_id id;
  cl_context context;
  int32_t index;
  std::string identity;  // what compiled programs depend on: the device, its driver, its platform
  bool keeps_programs;   // whether the driver itself keeps on disk what it compiled
  bool has_double;
  bool is_processor;  // whose work-items are pieces of loops, rather than lanes that run in lockstep
  int vector_bytes;   // of a register
};

// A queue of work, and where its kernels leave their first error.
struct Stream {
  cl_command_queue queue = nullptr;
  of_report* report = nullptr;               // of the device; made when a kernel first wants it
  std::atomic<bool> may_have_failed{false};  // whether a kernel that reports ran since the last synchronisation
};

// All devices that can be used, the fastest kinds first, and why others cannot. Found at the first call.
const std::vector<Device>& devices();
const std::string& rejected();
inline const Device& device_of(of_device id) { return devices()[static_cast<size_t>(id.index)]; }
inline Stream& stream_of(of_stream stream) { return *reinterpret_cast<Stream*>(stream); }

// The status of an OpenCL call; `what` is for the text of a failure. Errors after which a device is of no use are
// reported as its loss.
of_status check(of_device device, cl_int code, const char* what);
// DeviceError in a process that was forked after devices were first used: their threads and queues stayed behind.
of_status check_process();

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_DEVICE_H_
