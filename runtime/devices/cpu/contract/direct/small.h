// Matrix products of which a whole operand, or a long piece of it, stays in the first-level cache: tiny matrices,
// batches of them, and tall and skinny matrices. Examples:
//   bij,bjk->bik   1000 x 8 x 8 by 1000 x 8 x 8
//   ij,jk->ik      100000 x 30 by 30 x 30
//   ij,jk->ik      10 x 1000 by 1000 x 1000
// The kernel loads vectors of one operand along a dimension that is contiguous in C, multiplies them by broadcast
// elements of the other operand, and keeps a register tile of sums. It reads both operands in place: packed panels
// would make each load cheaper, but so few rows or columns do not reuse them often enough to pay for packing. Only what
// is strided in memory, or needed many times, is packed.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_SMALL_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_SMALL_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Takes no problem that is not small, or that is thin: with a depth of 1, or fewer than 3 rows or columns (but 1 or 2
// are taken where the other operand is larger than the caches). The problem has to be plain, and of a dtype that
// kernels compute with.
void offer_small(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_SMALL_H_
