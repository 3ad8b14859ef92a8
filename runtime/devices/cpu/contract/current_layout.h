// The strategies that take a problem in the layout that its operands have.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_CURRENT_LAYOUT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_CURRENT_LAYOUT_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Returns the solution by the cheapest strategy on unpacked operands; if none takes the problem, on converted ones, or
// else by packing.
std::unique_ptr<Solution> solve_in_current_layout(const Problem& problem);
// Returns what that costs.
double cost_in_current_layout(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_CURRENT_LAYOUT_H_
