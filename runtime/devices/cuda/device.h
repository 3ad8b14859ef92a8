// The NVIDIA GPUs of this machine, and the plugin's state for each of them.
#ifndef ONEFLOW_DEVICES_CUDA_DEVICE_H_
#define ONEFLOW_DEVICES_CUDA_DEVICE_H_

#include <cuda_runtime_api.h>
#include <oneflow/device_plugin.h>

#include <atomic>
#include <mutex>
#include <string>

#include "../grid/host.h"

namespace oneflow::cuda {

constexpr int kMostDevices = 64;

// A stream, and two slots for error reports in page-locked memory, which the host reads without a copy. Kernels record
// their first error in the current slot. Each synchronisation switches slots, so that the host never reads a slot that
// new work may write.
struct Stream {
  cudaStream_t queue = nullptr;
  std::mutex synchronizing;
  std::atomic<of_report*> slots{nullptr};    // two slots; allocated for the first kernel that may fail
  std::atomic<uint32_t> turn{0};             // its lowest bit is the index of the current slot
  std::atomic<bool> may_have_failed{false};  // whether a kernel that may fail ran since the last synchronisation
};

// Returns the number of devices, which is queried once.
int32_t device_count();
// Returns the reason why there are no devices, as a text for users.
const std::string& why_none();
// Returns the flag that says whether a device is in use. Its first use creates a context, which takes time and memory.
std::atomic<bool>& is_in_use(of_device device);
// Sets a number that follows from the UUID of a GPU.
of_status identify(of_device device, uint64_t* identity);
// Returns DeviceError in a process that was forked after CUDA was first used: contexts are not inherited.
of_status check_process();
inline Stream& stream_of(of_device_stream stream) { return *reinterpret_cast<Stream*>(stream); }

// Returns the status of a CUDA call, and sets the error text on failure: "could not <what>". Errors after which a
// context cannot be used any more are reported to the runtime as the loss of the device.
of_status check(of_device device, cudaError_t code, const char* what);

// Makes a device the calling thread's current one, and restores the previous one on destruction. Other libraries of the
// process set the current device as well, so that it is queried each time. Fails in a process that was forked after
// CUDA was first used.
class OnDevice {
 public:
  explicit OnDevice(of_device device);
  ~OnDevice() {
    if (previous_ >= 0) cudaSetDevice(previous_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  of_status status() const { return status_; }

 private:
  of_status status_;
  int previous_ = -1;  // the device to restore, or -1
};

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_DEVICE_H_
