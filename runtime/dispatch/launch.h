// From a checked call with its operands laid out to the device's kernel.
#ifndef ONEFLOW_DISPATCH_LAUNCH_H_
#define ONEFLOW_DISPATCH_LAUNCH_H_

#include <oneflow/device_plugin.h>

#include <span>

#include "dispatch/call.h"

namespace oneflow {

// What a kernel needs beyond the call's arguments.
struct Launch {
  int variant = 0;
  of_dtype compute;
  std::span<of_kernel_tensor> inputs;
  std::span<of_kernel_tensor> outputs;
  uint32_t reduced = 0;
  uint64_t seed = 0;
  uint64_t offset = 0;
  const of_value* arguments = nullptr;  // NULL: those of the call
};

// Runs the device's kernel, or the host's on copies where the device has none that takes these operands.
void launch(const Call& call, const Launch& launch);

// Operands for kernels. Their sizes and strides stay those of the tensor, which must live as long. A result comes from
// prepare_result(), which has made it ready for writing.
inline of_kernel_tensor kernel_tensor(const Tensor& tensor, const void* data) {
  return {const_cast<void*>(data), tensor.dtype(), tensor.rank(), tensor.sizes().data(), tensor.strides().data(), {}};
}
inline of_kernel_tensor kernel_input(const Tensor& tensor) { return kernel_tensor(tensor, tensor.data()); }
inline of_kernel_tensor kernel_output(const Tensor& result) { return kernel_tensor(result, result.data()); }
inline of_kernel_tensor kernel_number(const of_scalar& number) {
  const of_dtype dtype = number.kind == OF_SCALAR_BOOL    ? OF_BOOL
                         : number.kind == OF_SCALAR_FLOAT ? OF_FLOAT64
                                                          : OF_INT64;
  return {nullptr, dtype, 0, nullptr, nullptr, number};
}

// A 0-d operand as one dimension of size 1, so that a dim has something to name.
inline of_kernel_tensor with_a_dimension(of_kernel_tensor operand) {
  static constexpr int64_t kOne = 1;
  if (operand.rank == 0) {
    operand.rank = 1;
    operand.sizes = operand.strides = &kOne;
  }
  return operand;
}

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_LAUNCH_H_
