// The NVIDIA GPUs of this machine, and what the plugin keeps for each of them.
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

// A queue of work. Its kernels leave their first error in page-locked memory, which the host reads without a copy: in
// the slot whose turn it is, so that the host never reads one that new work may write.
struct Stream {
  cudaStream_t queue = nullptr;
  std::mutex synchronizing;
  std::atomic<of_report*> slots{nullptr};  // two of them; made when a kernel first wants one
  std::atomic<uint32_t> turn{0};
  std::atomic<bool> may_have_failed{false};  // whether a kernel that reports ran since the last synchronisation
};

// How many devices there are, and if there are none, why. Asked for once.
int32_t device_count();
const std::string& why_none();
// Whether work was done on a device: that is when it gets a context, which takes time and memory.
std::atomic<bool>& is_in_use(of_device device);
// DeviceError in a process that was forked after CUDA was first used: contexts stayed behind.
of_status check_process();
inline Stream& stream_of(of_stream stream) { return *reinterpret_cast<Stream*>(stream); }

// The status of a CUDA call; `what` is for the text of a failure. Errors after which a context is of no use are
// reported as the loss of the device.
of_status check(of_device device, cudaError_t code, const char* what);

// Makes a device the calling thread's current one, and the one before again at its end: other libraries of the process
// have theirs, so that nothing can be kept between calls. Fails in a process that was forked after CUDA was first used.
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
  int previous_ = -1;  // where it differs
};

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_DEVICE_H_
