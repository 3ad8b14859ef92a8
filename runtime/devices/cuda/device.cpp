#include "device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>

namespace oneflow::cuda {
namespace {

struct Found {
  int count = 0;
  std::string why_none;
};

Found find() {
  Found found;
  // The runtime library would say that a driver that is not there is too old.
  if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); driver == nullptr) {
    found.why_none = "no NVIDIA driver was found (libcuda.so.1); install the driver of your GPU";
    return found;
  }
  const cudaError_t code = cudaGetDeviceCount(&found.count);
  // Contexts do not pass on to child processes; those that are forked before this point may make their own.
  grid::watch_forks();
  found.count = std::min(found.count, kMostDevices);
  if (code == cudaSuccess && found.count > 0) return found;
  found.count = 0;
  found.why_none = code == cudaSuccess ? "the NVIDIA driver has no GPU that may be used"
                                       : std::string("the NVIDIA driver is of no use: ") + cudaGetErrorString(code);
  if (code == cudaErrorInsufficientDriver) found.why_none += "; install a newer one";
  return found;
}

const Found& found() {
  static const Found& found = *new Found(find());
  return found;
}

// Errors that stay: each later call on the device's context answers the same.
bool is_lost(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

int32_t device_count() { return found().count; }
const std::string& why_none() { return found().why_none; }

of_status check(of_device device, cudaError_t code, const char* what) {
  if (code == cudaSuccess) [[likely]]
    return OF_OK;
  cudaGetLastError();  // an error that does not stay would be the next call's otherwise
  if (code == cudaErrorMemoryAllocation)
    return grid::fail(OF_OUT_OF_MEMORY, "cuda:%d: no memory to %s", device.index, what);
  char text[256];
  std::snprintf(text, sizeof text, "cuda:%d: could not %s: %s (%s)", device.index, what, cudaGetErrorString(code),
                cudaGetErrorName(code));
  if (is_lost(code)) grid::host().lost(device, text);
  return grid::host().fail(OF_DEVICE_ERROR, text);
}

std::atomic<bool>& is_in_use(of_device device) {
  static std::atomic<bool> in_use[kMostDevices];
  return in_use[device.index];
}

of_status check_process() { return grid::check_process("CUDA"); }

OnDevice::OnDevice(of_device device) : status_(check_process()) {
  if (status_ != OF_OK) [[unlikely]]
    return;
  int current = -1;
  cudaError_t code = cudaGetDevice(&current);
  if (code == cudaSuccess && current != device.index) {
    code = cudaSetDevice(device.index);
    if (code == cudaSuccess) previous_ = current;
  }
  status_ = check(device, code, "be used");
}

}  // namespace oneflow::cuda
