// Access of the host to a tensor's elements.
#ifndef ONEFLOW_TENSOR_HOST_ELEMENTS_H_
#define ONEFLOW_TENSOR_HOST_ELEMENTS_H_

#include <memory>

#include "device/copy.h"
#include "device/device.h"
#include "device/work_observer.h"
#include "tensor/tensor.h"

namespace oneflow {

// The elements of a tensor in host memory, with the tensor's strides: the tensor's own memory, or a copy if the host
// cannot access that. The tensor must outlive this object.
class HostElements {
 public:
  // Waits for pending work, and throws its error.
  explicit HostElements(const Tensor& tensor);

  // Returns the address of the element at index 0.
  const char* first() const { return first_; }

 private:
  std::unique_ptr<char[]> copy_;
  const char* first_ = nullptr;
};

// Calls write(memory), which must write all elements of a new, contiguous tensor in row-major order. `memory` is the
// tensor's own memory, or a buffer that is then copied to it if the host cannot access that.
template <class Write>
void write_on_host(const Tensor& tensor, Write&& write) {
  Device& device = get_device(tensor.device());
  note_other_work();
  if (device.host_accessible()) {
    device.current().synchronize();  // pending work may still use the previous content of reused memory
    write(tensor.mutable_data());
    return;
  }
  const auto elements = std::make_unique_for_overwrite<char[]>(tensor.bytes());
  write(elements.get());
  copy_from_host(tensor.device(), tensor.mutable_data(), elements.get(), tensor.bytes());
}

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_HOST_ELEMENTS_H_
