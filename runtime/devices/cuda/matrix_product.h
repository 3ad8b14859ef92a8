// A matrix product, or a batch of them, in the form of cuBLASLt: column-major, with each operand plain or transposed.
#ifndef ONEFLOW_DEVICES_CUDA_MATRIX_PRODUCT_H_
#define ONEFLOW_DEVICES_CUDA_MATRIX_PRODUCT_H_

#include "../grid/contraction_problem.h"
#include "product_list.h"

namespace oneflow::cuda {

// The properties of D[m, n] = A[m, k] B[k, n] that determine the algorithm. Shapes are compared bytewise. The result
// has the dtype of the factors, but int32 for int8.
struct Shape {
  int64_t m, n, k;
  int64_t leading_a, leading_b, leading_d;
  int64_t batch, step_a, step_b, step_d;
  int32_t dtype, device;
  int32_t a_is_transposed, b_is_transposed;
  int32_t has_bias, allows_tf32;
  int32_t reads_c;
  int32_t is_listed;  // whether the batch is a list of addresses; its steps are 0 then
  int32_t alignment_a, alignment_b, alignment_d, alignment_bias;
};

// The operands of a matrix product.
struct MatrixProduct {
  Shape shape{};
  const char *a, *b, *bias;
  char* d;
  // Set where there are several batch dimensions. `inner` is the longest one, which is the batch of the shape; the
  // others are walked by separate products (see Outer).
  const grid::Role* outer = nullptr;
  int32_t inner = 0;
};

// Expresses a problem as a matrix product. The problem's rows are the columns of D, so that its B becomes the library's
// A. Returns false where the operands are not matrices of a layout that the library supports. uint8 is treated as int8,
// which gives the same lowest byte of each sum.
bool make_product(const grid::Problem& problem, MatrixProduct& product);

// Expresses the products of all batch dimensions as one list. Returns false where there is only one batch dimension,
// and where the products of the inner one keep a large GPU busy: the library is faster with matrices at constant
// distances.
bool make_list(const grid::Problem& problem, const MatrixProduct& product, Shape& shape, ProductList& list);

// Walks the batch dimensions other than the inner one.
class Outer {
 public:
  explicit Outer(const MatrixProduct& product) : role_(product.outer), inner_(product.inner) {}

  // Returns the offset, in elements, of the current product in an operand of the problem.
  int64_t offset(grid::Side side) const;
  // Moves on to the next product; returns false after the last one.
  bool next();

 private:
  int32_t rank() const { return role_ == nullptr ? 0 : role_->rank; }

  const grid::Role* role_;
  const int32_t inner_;
  int64_t at_[grid::Role::kMost] = {};
};

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_MATRIX_PRODUCT_H_
