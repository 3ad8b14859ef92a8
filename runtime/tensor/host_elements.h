// A tensor's elements where the host can read them.
#ifndef ONEFLOW_TENSOR_HOST_ELEMENTS_H_
#define ONEFLOW_TENSOR_HOST_ELEMENTS_H_

#include <memory>

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

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_HOST_ELEMENTS_H_
