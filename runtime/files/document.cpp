#include "files/document.h"

#include "device/device.h"
#include "tensor/transfer.h"

namespace oneflow::files {

RowMajorElements::RowMajorElements(const Tensor& tensor)
    : bytes_(static_cast<uint64_t>(count_bytes(tensor.sizes(), tensor.dtype()))) {
  if (bytes_ == 0) return;
  Device& device = get_device(tensor.device());
  if (tensor.is_contiguous() && device.host_accessible()) {
    data_ = static_cast<const char*>(tensor.data());
    device.current().synchronize();
    return;
  }
  copy_ = std::make_unique_for_overwrite<char[]>(bytes_);
  read_elements(tensor, copy_.get());
  data_ = copy_.get();
}

}  // namespace oneflow::files
