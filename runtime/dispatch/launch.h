// Launches the kernel of a call whose operands are prepared.
#ifndef ONEFLOW_DISPATCH_LAUNCH_H_
#define ONEFLOW_DISPATCH_LAUNCH_H_

#include <oneflow/device_plugin.h>

#include <span>
#include <string>
#include <utility>

#include "dispatch/call.h"

namespace oneflow {

// The fields of of_kernel_context that the function of a kind determines.
struct Launch {
  int variant = 0;  // the index of the expression, see match_variant()
  of_dtype compute;
  std::span<of_kernel_tensor> inputs;
  std::span<of_kernel_tensor> outputs;
  uint32_t reduced = 0;
  uint64_t seed = 0;
  uint64_t offset = 0;
  const of_box* box = nullptr;
  const of_value* arguments = nullptr;  // null: those of the call
  bool is_pointwise = false;            // whether each element of the outputs depends on those at the same index only
};

// Runs the device's kernel. If the device has none for these operands, leaves the call to the fallback layer.
void launch(const Call& call, const Launch& launch);

// Runs the device's kernel if it has one for these operands. Returns whether it has.
bool launch_if_possible(const Call& call, const Launch& launch);

// The error of a call whose device cannot compute it, which the fallback layer answers by running the call on the host.
class MissingKernel final : public Error {
 public:
  explicit MissingKernel(std::string text) : Error(OF_UNSUPPORTED, std::move(text)) {}
};

// Throws MissingKernel "far:0 has no kernel for float32"; `missing` is "kernel for float32". The call must not have
// changed anything that it reads.
[[noreturn]] void leave_to_fallback(const Call& call, const char* missing);

// Reserves `count` random numbers of the generator in the argument number `generator`, or of the default one, and
// returns the position of the first one. A call that runs again after a failure draws the same numbers.
RandomState draw(Call& call, int generator, uint64_t count);

// Returns a kernel operand that refers to the sizes and strides of a tensor, which must live as long.
inline of_kernel_tensor kernel_tensor(const Tensor& tensor, const void* data) {
  return {const_cast<void*>(data), tensor.dtype(), tensor.rank(), tensor.sizes().data(), tensor.strides().data(), {}};
}
// Returns the operand for a tensor that the kernel reads.
inline of_kernel_tensor kernel_input(const Tensor& tensor) { return kernel_tensor(tensor, tensor.data()); }
// Returns the operand for a result that the kernel writes, which must come from prepare_result().
inline of_kernel_tensor kernel_output(const Tensor& result) { return kernel_tensor(result, result.data()); }
// Returns the scalar operand for a number.
inline of_kernel_tensor kernel_number(const of_scalar& number) {
  const of_dtype dtype = number.kind == OF_SCALAR_BOOL    ? OF_BOOL
                         : number.kind == OF_SCALAR_FLOAT ? OF_FLOAT64
                                                          : OF_INT64;
  return {nullptr, dtype, 0, nullptr, nullptr, number};
}

// Returns an operand with one dimension of size 1 if it is 0-d, for kernels that take a dimension as an argument;
// returns other operands unchanged.
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
