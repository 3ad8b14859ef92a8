// Contractions that are computed on unpacked operands: matrix-vector products (GEMV), dot products, outer products,
// tall and skinny matrices, batches of all these, and tiny matrices. Examples:
//   ij,j->i       1000 x 1000 by 1000      dot products, or sums vectorised along i where i is contiguous in A
//   bi,bi->b      1000 x 64                batched dot products
//   i,j->ij       1000 by 1000             an outer product, without a sum
//   ij,jk->ik     100000 x 3 by 3 x 3      several rows of A at a time within one vector register (AVX-512)
// Packing reads and writes every element of an operand once more. Where each element is multiplied only once or twice,
// or the whole product is tiny, this takes longer than the product itself: kernels read both operands in place.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DIRECT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DIRECT_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Makes the offers of strategies on unpacked operands; none where packing is faster or they do not apply: for alpha,
// beta or a bias, an empty depth, and most problems of dtypes that need a conversion.
void offer_directly(const Work& work, Chooser& chooser);
// Makes those of strategies that neither copy an operand nor cut the depth.
void offer_in_place(const Work& work, Chooser& chooser);

// Returns whether a matrix product, with several rows and columns and a sum, is computed within vector registers in the
// current layout of its operands.
bool fits_registers(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DIRECT_H_
