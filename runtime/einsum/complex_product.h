// Contractions of complex numbers, computed by real contractions of their parts.
#ifndef ONEFLOW_EINSUM_COMPLEX_PRODUCT_H_
#define ONEFLOW_EINSUM_COMPLEX_PRODUCT_H_

#include "einsum/layout.h"

namespace oneflow::einsum {

// The ways to compute a complex contraction. Multiplication by a complex number is multiplication by a 2 x 2 matrix:
// either the matrices of one operand are written out, and the contraction sums over the part of the other operand; or
// the contraction computes the outer products of the parts, four sums per number, which are then combined.
enum class ComplexProduct { kMatricesOfA, kMatricesOfB, kOuterOfParts };

// Returns the way with the lowest estimated cost. Each label of `out` must be in one of the operands, each other label
// in both; all three layouts have kPart.
ComplexProduct choose_complex_product(const Layout& a, const Layout& b, const Layout& out);

// Returns the layout of an operand written out as matrices. It has kSummedPart, over which the product with the other
// operand is summed, in addition to kPart.
Layout matrices_of(const Layout& layout, const Layout& out);

// Returns the layout of the outer products of the parts: kSummedPart is the part of `a`, and kPart that of `b`.
Layout products_of_parts(const Layout& a, const Layout& out);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_COMPLEX_PRODUCT_H_
