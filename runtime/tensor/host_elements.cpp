#include "tensor/host_elements.h"

#include "device/copy.h"
#include "device/device.h"

namespace oneflow {

HostElements::HostElements(const Tensor& tensor) {
  const auto* data = static_cast<const char*>(tensor.data());
  Device& device = get_device(tensor.device());
  if (device.host_accessible()) {
    device.synchronize();
    first_ = data;
    return;
  }
  const Extent reach = extent(tensor.sizes(), tensor.strides());
  const int64_t bytes = (reach.highest - reach.lowest + 1) * tensor.element_bytes();
  const int64_t before = -reach.lowest * tensor.element_bytes();
  copy_ = std::make_unique_for_overwrite<char[]>(bytes);
  copy_to_host(copy_.get(), tensor.device(), data - before, bytes);
  first_ = copy_.get() + before;
}

}  // namespace oneflow
