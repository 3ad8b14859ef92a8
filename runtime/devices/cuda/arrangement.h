// How the library computes a contraction: which of its operands are first copied into another layout.
#ifndef ONEFLOW_DEVICES_CUDA_ARRANGEMENT_H_
#define ONEFLOW_DEVICES_CUDA_ARRANGEMENT_H_

#include <functional>

#include "matrix_product.h"

namespace oneflow::cuda {

// The copy of an operand: its dimensions, with the strides before and after. A copy is contiguous in some order of the
// dimensions.
struct OperandCopy {
  int32_t rank = 0;  // 0: the operand is used as it is
  int64_t count = 1;
  int64_t sizes[OF_MAX_RANK], before[OF_MAX_RANK], after[OF_MAX_RANK];

  bool is_needed() const { return rank > 0; }
};

struct Arrangement {
  bool uses_library = false;  // whether the library is expected to be faster than the shared kernels
  double seconds;             // the estimated time
  // The matrix product, over the copies. Its A is the B of the original problem where `is_swapped`.
  grid::Problem problem;
  bool is_swapped = false;
  OperandCopy copies[3];  // of A, B and C of `problem`; that of C is made after the product
};

// Calls `visit` with each arrangement that the library supports.
void for_each_arrangement(const grid::Problem& problem, const std::function<void(const Arrangement&)>& visit);

// Returns the arrangement with the least estimated time.
Arrangement arrange(const grid::Problem& problem);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_ARRANGEMENT_H_
