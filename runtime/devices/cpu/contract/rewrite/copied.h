// Thin contractions whose smaller operand is strided along the depth: copies it into contiguous memory first.
//
// For ik,k->i with a matrix of 1,000 x 1,000 and a column of a row-major matrix, for example, the copy of 1,000
// elements makes each element of C a dot product of contiguous vectors, and each copied element is used 1,000 times.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COPIED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COPIED_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Takes thin problems of which the longer operand is contiguous along the depth, and the smaller one is not, fits into
// the second-level cache and is used several times. There is no solution where no kernel reads the operands after the
// copy in place.
void offer_copy(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COPIED_H_
