// The addresses of the products of a batch, which cuBLASLt takes as a list where their distances are not constant.
#ifndef ONEFLOW_DEVICES_CUDA_PRODUCT_LIST_H_
#define ONEFLOW_DEVICES_CUDA_PRODUCT_LIST_H_

#include <oneflow/device_plugin.h>

#include <cstdint>

#ifdef __CUDACC__
#define OF_ANYWHERE __host__ __device__
#else
#define OF_ANYWHERE
#endif

namespace oneflow::cuda {

// The operands of all products of a batch.
struct ProductList {
  static constexpr int kOperands = 3;  // the library's A, B and D

  struct Operand {
    char* first;
    int64_t steps[OF_MAX_RANK];  // in bytes
  };

  int64_t count;  // of products
  int32_t rank;
  int64_t sizes[OF_MAX_RANK];
  Operand operands[kOperands];

  // Returns the address of an operand of a product.
  OF_ANYWHERE char* address(int operand, int64_t product) const {
    int64_t offset = 0;
    for (int32_t d = rank - 1; d >= 0; --d) {
      offset += product % sizes[d] * operands[operand].steps[d];
      product /= sizes[d];
    }
    return operands[operand].first + offset;
  }
};

// Submits a kernel that writes the addresses of all A, then of all B, then of all D to device memory.
of_status write_addresses(const of_kernel_context& context, const ProductList& list, char** addresses);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_PRODUCT_LIST_H_
