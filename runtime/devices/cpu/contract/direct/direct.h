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

#include <memory>

#include "contract/kernels.h"
#include "contract/problem.h"

namespace oneflow::cpu {

// The most multiplications of one product of the batch for which it counts as tiny.
constexpr int64_t kMaxTinyWork = 16 * 16 * 16;
// The most elements of C, per product of the batch, that are computed as dot products of copied rows and columns:
// packed panels would hold almost only padding.
constexpr int64_t kMaxDotCount = 16;
// The least depth for which copying strided rows and columns pays.
constexpr int64_t kMinCopiedDepth = 32;
// The least size of a batch dimension that kernels vectorise along; it is contiguous in A, B and C.
constexpr int64_t kMinBatchVector = 8;

// Returns the fastest strategy on unpacked operands, or NULL where packing is faster or the strategies here do not
// apply: for alpha, beta or a bias, an empty depth, and most problems of dtypes that need a conversion.
std::unique_ptr<Solution> solve_directly(const Problem& problem);
// Returns a solution that does not split the depth into separate problems: solve_directly() without direct/lines.h and
// rewrite/long.h. The latter calls it for each part of the depth.
std::unique_ptr<Solution> solve_whole_depth(const Problem& problem);

// Returns whether C is contiguous along a dimension, one of A and B broadcast, and of the other every second element is
// read, as by a convolution with a stride of 2, and there are kernels for it.
bool reads_every_second(const Dim& dim, const ContractKernels& kernels);

// Returns whether a matrix product, with several rows and columns and a sum, is computed within vector registers in the
// current layout of its operands.
bool fits_registers(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DIRECT_H_
