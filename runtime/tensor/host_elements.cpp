#include "tensor/host_elements.h"

#include "device/work_observer.h"

namespace oneflow {

HostElements::HostElements(const Tensor& tensor) {
  const auto* data = static_cast<const char*>(tensor.data());
  Device& device = get_device(tensor.device());
  if (device.host_accessible()) {
    device.current().synchronize();
    first_ = data;
    note_other_work();
    return;
  }
  const Span span = span_of(tensor.sizes(), tensor.strides(), tensor.dtype());
  copy_ = std::make_unique_for_overwrite<char[]>(span.bytes);
  copy_to_host(copy_.get(), tensor.device(), data - span.before, span.bytes);
  first_ = copy_.get() + span.before;
}

}  // namespace oneflow
