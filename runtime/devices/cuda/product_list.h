// Where each product of a batch begins: what cuBLASLt takes in place of one distance between them.
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

  // Where an operand of a product is.
  OF_ANYWHERE char* address(int operand, int64_t product) const {
    int64_t offset = 0;
    for (int32_t d = rank - 1; d >= 0; --d) {
      offset += product % sizes[d] * operands[operand].steps[d];
      product /= sizes[d];
    }
    return operands[operand].first + offset;
  }
};

// Puts all addresses of A, then those of B and of D, into memory of the device.
of_status write_addresses(const of_kernel_context& context, const ProductList& list, char** addresses);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_PRODUCT_LIST_H_
