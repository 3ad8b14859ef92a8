// Contractions as dot products: each element of C is computed on its own, as the dot product of a row of A and a column
// of B. Examples:
//   ik,k->i         1000 x 1000 by 1000       a matrix-vector product (GEMV) with a row-major matrix
//   bk,bk->b        1000 x 64                 batched dot products
//   k,kj->j         100000 by 100000 x 3      interleaved dot products: the short j is innermost in B
//   ikx,ky->ixy     1000 x 64 x 2 by 64 x 2   products of pairs, as of the parts of complex numbers
// Each element of the operands is used once (or twice), so that packing would take longer than the products. Both
// operands are read in place along the depth, where they are contiguous; where they are not and C is small, pieces of
// each row and column are copied first. Long sums are cut into pieces that are computed in parallel; their partial sums
// are added up in a fixed order, so that the result does not depend on the number of threads.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DOTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DOTS_H_

#include <memory>
#include <optional>

#include "contract/strategy.h"

namespace oneflow::cpu {

// Returns whether C has a few elements per product of the batch, of a thin problem that is deep enough for copying its
// rows and columns: packed panels would hold almost only padding.
bool has_few_dots(const Work& work);
// Returns whether the depth is one dimension and contiguous in A and B.
bool has_unit_depth(const Problem& problem);

// Elements of one piece of a long sum.
constexpr int64_t kDotPiece = int64_t{1} << 15;

// Returns dot products along a depth that is one dimension and contiguous in A and B.
std::unique_ptr<Solution> make_dots(const Problem& problem);

// A problem with interleaved dot products: a short dimension of C is innermost in one operand, or in both, and the
// depth follows it.
struct Interleaved {
  Problem rest;  // the problem without that dimension
  Dim dim;
};
// Returns nothing where no dimension is interleaved, or the sums are too short for it to pay.
std::optional<Interleaved> find_interleaved(const Problem& problem);
std::unique_ptr<Solution> make_interleaved_dots(const Interleaved& interleaved);

// Returns dot products that copy pieces of each row of A and column of B to contiguous memory first, and convert them
// to the type that kernels compute with. For any layout and dtype; few rows and columns.
std::unique_ptr<Solution> make_copied_dots(const Problem& problem);

// Takes thin problems with a depth that is one dimension and contiguous in A and B.
void offer_dots(const Work& work, Chooser& chooser);
// Takes problems with interleaved dot products.
void offer_interleaved_dots(const Work& work, Chooser& chooser);
// Takes problems whose operands are pairs, such as the parts of complex numbers: innermost in A and in B, and
// contiguous along the depth; all four products of the elements of two pairs are summed up. Takes none where C has
// several rows and several columns of pairs, for which packing pays.
void offer_pair_dots(const Work& work, Chooser& chooser);
// Takes problems of which has_few_dots() holds.
void offer_copied_dots(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_DOTS_H_
