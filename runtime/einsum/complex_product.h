// How a product of complex numbers is computed by products of real ones, of their parts.
#ifndef ONEFLOW_EINSUM_COMPLEX_PRODUCT_H_
#define ONEFLOW_EINSUM_COMPLEX_PRODUCT_H_

#include "einsum/layout.h"

namespace oneflow::einsum {

// Multiplying by a complex number is multiplying by a matrix of two by two. Either those of one operand are written
// out, and the part of the other one is summed over, or each part is multiplied with each, and the sums of these four
// are combined.
enum class ComplexProduct { kMatricesOfA, kMatricesOfB, kEachPart };

// The quickest one. Every label of `out` is in one of the operands, every other one in both; all have the part.
ComplexProduct choose_complex_product(const Layout& a, const Layout& b, const Layout& out);

// How the matrices of an operand are written out: with kSummedPart, the part of the other one, besides its own.
Layout matrices_of(const Layout& layout, const Layout& out);

// The layout of the products of each part with each, where the part of `a` became kSummedPart.
Layout products_of_parts(const Layout& a, const Layout& out);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_COMPLEX_PRODUCT_H_
