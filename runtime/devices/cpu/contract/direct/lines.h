// Products of a large and a small matrix as dot products, where the large one is contiguous along the depth. Examples:
//   ik,jk->ij   100000 x 1000 by 8 x 1000
//   ik,kj->ij   100000 x 1000 by 1000 x 8
// A line is a row of the large operand; or a column, where that is B. Each line is read once, in place, a few lines at
// a time, and multiplied by all lines of the small operand, which are packed and stay in the second-level cache.
// Packing the large operand would take as long as multiplying its elements by so few others.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_LINES_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_LINES_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Takes no problem that is not plain or whose dtype needs a conversion, whose depth is several dimensions, strided in
// the large operand or too short, or whose small operand has one line or too many.
void offer_lines(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_LINES_H_
