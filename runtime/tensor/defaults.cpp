#include "tensor/defaults.h"

#include <atomic>

#include "base/dtype.h"
#include "base/error.h"
#include "device/device.h"

namespace oneflow {
namespace {

std::atomic<of_dtype> dtype_of_new_tensors{OF_FLOAT32};
std::atomic<of_device> device_of_new_tensors{of_device{0, 0}};

}  // namespace

ThreadDefaults& thread_defaults() {
  static thread_local ThreadDefaults defaults;
  return defaults;
}

of_dtype default_dtype() { return dtype_of_new_tensors.load(std::memory_order_relaxed); }

void set_default_dtype(of_dtype dtype) {
  if (!is_valid(dtype) || !is_floating(dtype))
    fail(OF_DTYPE_ERROR, "the default dtype must be a floating-point type, got %s",
         is_valid(dtype) ? dtype_name(dtype) : "an unknown one");
  dtype_of_new_tensors.store(dtype, std::memory_order_relaxed);
}

of_device default_device() {
  const auto& own = thread_defaults().device;
  return own ? *own : device_of_new_tensors.load(std::memory_order_relaxed);
}

void set_default_device(of_device device) {
  get_device(device);
  device_of_new_tensors.store(device, std::memory_order_relaxed);
}

Generator& default_generator() {
  const auto& own = thread_defaults().generator;
  return own ? *own : Generator::of_process();
}

}  // namespace oneflow
