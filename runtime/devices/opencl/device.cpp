#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace oneflow::opencl {
namespace {

std::string text_of(cl_device_id id, cl_device_info what) {
  size_t size = 0;
  clGetDeviceInfo(id, what, 0, nullptr, &size);
  std::string text(size, '\0');
  clGetDeviceInfo(id, what, size, text.data(), nullptr);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

// Returns whether CPU devices shall run the kernels for work-items in lockstep, as tests do.
bool wants_lockstep() {
  const char* wanted = std::getenv("ONEFLOW_OPENCL_LOCKSTEP");
  return wanted != nullptr && *wanted == '1';
}

template <class T>
T value_of(cl_device_id id, cl_device_info what) {
  T value{};
  clGetDeviceInfo(id, what, sizeof value, &value, nullptr);
  return value;
}

// Returns the rank by which devices are sorted: GPUs before accelerators before CPU devices.
int speed(cl_device_id id) {
  const auto type = value_of<cl_device_type>(id, CL_DEVICE_TYPE);
  return type & CL_DEVICE_TYPE_GPU ? 2 : type & CL_DEVICE_TYPE_ACCELERATOR ? 1 : 0;
}

// Returns whether the driver caches compiled programs itself. PoCL caches each kernel for the group sizes that it was
// launched with. To give out a binary, it would compile all kernels of the program for groups of any size in addition,
// which makes the first use of a function slower.
bool driver_keeps_programs(const std::string& version) { return version.find("PoCL") != std::string::npos; }

struct Found {
  std::vector<Device> devices;
  std::string rejected;

  void reject(const std::string& name, const char* reason) {
    rejected += (rejected.empty() ? "" : "; ") + name + reason;
  }

  void add(cl_device_id id) {
    const std::string name = text_of(id, CL_DEVICE_NAME);
    const auto shared = value_of<cl_device_svm_capabilities>(id, CL_DEVICE_SVM_CAPABILITIES);
    if ((shared & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) == 0) return reject(name, " has no shared virtual memory");
    if (!value_of<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE)) return reject(name, " has no compiler");
    if (devices.size() == kMostDevices) return reject(name, " exceeds the number of supported devices");
    cl_int code = CL_SUCCESS;
    cl_context context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
    if (code != CL_SUCCESS) return reject(name, " failed to create a context");
    const bool is_processor =
        (value_of<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0 && !wants_lockstep();
    const auto lanes = static_cast<int>(value_of<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
    const std::string version = text_of(id, CL_DEVICE_VERSION);
    devices.push_back({id, context, static_cast<int32_t>(devices.size()),
                       name + "|" + version + "|" + text_of(id, CL_DRIVER_VERSION), driver_keeps_programs(version),
                       value_of<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0, is_processor,
                       4 * std::clamp(lanes, 4, 16)});
  }
};

Found find() {
  Found found;
  // Forked processes inherit neither the threads of the drivers nor their queues.
  grid::watch_forks();
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS || platform_count == 0) {
    found.rejected = "there is no OpenCL driver; install one for your hardware, or PoCL for the processor";
    return found;
  }
  std::vector<cl_device_id> ids;
  for (cl_uint p = 0; p < std::min<cl_uint>(platform_count, 16); ++p) {
    cl_device_id some[kMostDevices];
    cl_uint count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, kMostDevices, some, &count) != CL_SUCCESS) continue;
    ids.insert(ids.end(), some, some + std::min<cl_uint>(count, kMostDevices));
  }
  std::stable_sort(ids.begin(), ids.end(), [](cl_device_id a, cl_device_id b) { return speed(a) > speed(b); });
  for (cl_device_id id : ids) found.add(id);
  if (ids.empty()) found.rejected = "no OpenCL driver has a device";
  return found;
}

const Found& found() {
  static const Found& found = *new Found(find());  // never destroyed: drivers may be gone by then
  return found;
}

}  // namespace

const std::vector<Device>& devices() { return found().devices; }
const std::string& rejected() { return found().rejected; }

of_status check(of_device device, cl_int code, const char* what) {
  if (code == CL_SUCCESS) return OF_OK;
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY)
    return grid::fail(OF_OUT_OF_MEMORY, "opencl:%d: out of memory, could not %s (OpenCL error %d)", device.index, what,
                      code);
  char text[128];
  std::snprintf(text, sizeof text, "opencl:%d: could not %s (OpenCL error %d)", device.index, what, code);
  const bool is_lost = code == CL_DEVICE_NOT_AVAILABLE || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (is_lost) grid::host().lost(device, text);
  return grid::host().fail(OF_DEVICE_ERROR, text);
}

of_status check_process() { return grid::check_process("OpenCL"); }

}  // namespace oneflow::opencl
