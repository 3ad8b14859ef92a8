#include "device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace oneflow::cuda {
namespace {

struct Found {
  int count = 0;
  std::string why_none;
};

Found find() {
  Found found;
  // Without a driver, the error text of the CUDA runtime would say that the driver is too old.
  if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); driver == nullptr) {
    found.why_none = "no NVIDIA driver was found (libcuda.so.1); install the driver of your GPU";
    return found;
  }
  const cudaError_t code = cudaGetDeviceCount(&found.count);
  // Child processes do not inherit contexts. Those that are forked before this point may create their own.
  grid::watch_forks();
  found.count = std::min(found.count, kMostDevices);
  if (code == cudaSuccess && found.count > 0) return found;
  found.count = 0;
  found.why_none = code == cudaSuccess ? "the NVIDIA driver has no usable GPU"
                                       : std::string("the NVIDIA driver cannot be used: ") + cudaGetErrorString(code);
  if (code == cudaErrorInsufficientDriver) found.why_none += "; install a newer one";
  return found;
}

const Found& found() {
  static const Found& found = *new Found(find());
  return found;
}

// Returns whether an error is sticky: every later call on the device's context returns it again.
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
  cudaGetLastError();  // clears the error, which the next call would return otherwise
  if (code == cudaErrorMemoryAllocation)
    return grid::fail(OF_OUT_OF_MEMORY, "cuda:%d: out of memory, could not %s", device.index, what);
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

of_status identify(of_device device, uint64_t* identity) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  cudaDeviceProp properties{};
  const of_status status = check(device, cudaGetDeviceProperties(&properties, device.index), "query its properties");
  uint64_t halves[2];
  static_assert(sizeof halves == sizeof properties.uuid);
  std::memcpy(halves, &properties.uuid, sizeof halves);
  *identity = halves[0] ^ halves[1];
  return status;
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
  status_ = check(device, code, "be selected");
}

}  // namespace oneflow::cuda
