// The strategies that take a problem in the layout that its operands have.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_CURRENT_LAYOUT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_CURRENT_LAYOUT_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Makes their offers, the best first: on unpacked operands, on converted ones, and by packing, which takes every
// problem.
void offer_in_current_layout(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_CURRENT_LAYOUT_H_
