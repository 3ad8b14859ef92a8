// One product of matrices, or a batch of them, as cuBLASLt takes it: column-major, each operand plain or transposed.
#ifndef ONEFLOW_DEVICES_CUDA_MATRIX_PRODUCT_H_
#define ONEFLOW_DEVICES_CUDA_MATRIX_PRODUCT_H_

#include "../grid/contraction_problem.h"
#include "product_list.h"

namespace oneflow::cuda {

// Everything that the choice of an algorithm depends on, compared byte by byte: D[m, n] = A[m, k] B[k, n]. The result
// has the dtype of the factors; that of int8 is int32.
struct Shape {
  int64_t m, n, k;
  int64_t leading_a, leading_b, leading_d;
  int64_t batch, step_a, step_b, step_d;
  int32_t dtype, device;
  int32_t a_is_transposed, b_is_transposed;
  int32_t has_bias, allows_tf32;
  int32_t reads_c;
  int32_t is_listed;  // the batch is a list of addresses: its steps are 0
  int32_t alignment_a, alignment_b, alignment_d, alignment_bias;
};

struct MatrixProduct {
  Shape shape{};
  const char *a, *b, *bias;
  char* d;
  // Where there are several batch dimensions: those besides the longest, `inner`, are so many products of their own.
  const grid::Role* outer = nullptr;
  int32_t inner = 0;
};

// Our rows are the columns of D, so that B takes the place of A. False where operands do not lie as matrices. Bytes
// without a sign count as int8, which gives the same lowest byte of each sum.
bool make_product(const grid::Problem& problem, MatrixProduct& product);

// The products of all batch dimensions as one list. False where each of the outer ones keeps a large chip busy by
// itself, or there is but one: matrices at even distances are the faster ones.
bool make_list(const grid::Problem& problem, const MatrixProduct& product, Shape& shape, ProductList& list);

// Where a product of the outer batch dimensions begins: the next one of each operand.
class Outer {
 public:
  explicit Outer(const MatrixProduct& product) : role_(product.outer), inner_(product.inner) {}

  // In elements.
  int64_t offset(grid::Side side) const;
  bool next();

 private:
  int32_t rank() const { return role_ == nullptr ? 0 : role_->rank; }

  const grid::Role* role_;
  const int32_t inner_;
  int64_t at_[grid::Role::kMost] = {};
};

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_MATRIX_PRODUCT_H_
