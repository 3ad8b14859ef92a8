// A tensor's elements where the host can read or write them.
#ifndef ONEFLOW_TENSOR_HOST_ELEMENTS_H_
#define ONEFLOW_TENSOR_HOST_ELEMENTS_H_

#include <memory>

#include "device/copy.h"
#include "device/device.h"
#include "tensor/tensor.h"

namespace oneflow {

// Waits for pending work. Memory that the host cannot reach is copied; the tensor must outlive this.
class HostElements {
 public:
  explicit HostElements(const Tensor& tensor);

  // The element at the tensor's first position; the others lie by the tensor's strides.
  const char* first() const { return first_; }

 private:
  std::unique_ptr<char[]> copy_;
  const char* first_ = nullptr;
};

// Calls write(memory), which puts all elements of a new, contiguous tensor there, row-major: into the tensor's own
// memory, or on the way to it where the host cannot reach that.
template <class Write>
void write_on_host(const Tensor& tensor, Write&& write) {
  Device& device = get_device(tensor.device());
  if (device.host_accessible()) {
    device.synchronize();  // work on what was in the memory before may still be under way
    write(tensor.mutable_data());
    return;
  }
  const auto elements = std::make_unique_for_overwrite<char[]>(tensor.bytes());
  write(elements.get());
  copy_from_host(tensor.device(), tensor.mutable_data(), elements.get(), tensor.bytes());
}

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_HOST_ELEMENTS_H_
