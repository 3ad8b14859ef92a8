// Split-K for contractions with a small C and a long depth, such as ki,kj->ij with 100,000 x 8 by 100,000 x 8, a tall
// matrix times its transpose: cuts the depth into pieces, computes their sums in parallel, as a batch, and adds these
// up. Without it, C would not have enough elements for all threads.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_LONG_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_LONG_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Takes no problem with a large C or a short depth, of a dtype that the kernels do not compute in, or of dot products
// of contiguous vectors, which are cut into pieces elsewhere (see contract/direct/dots.h).
void offer_pieces(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_LONG_H_
