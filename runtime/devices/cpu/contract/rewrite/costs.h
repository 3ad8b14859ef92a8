// A cost model of contractions, to compare the layouts that operands could be copied to (see rearranged.h).
//
// The cost estimates the time of the fastest strategy, in nanoseconds on one thread of a 3.5 GHz processor. It counts
// vector multiplications, by the role of the dimension that the vectors run along, and adds what layouts cost: strided
// loads and stores, packing, adding up the lanes of sums. Only ratios of costs matter, so that it need not match other
// processors.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COSTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COSTS_H_

#include "contract/problem.h"

namespace oneflow::cpu {

enum Role { kBatch, kRows, kColumns, kDepth, kRoles };
constexpr DimGroup Problem::*kGroups[] = {&Problem::batch, &Problem::rows, &Problem::columns, &Problem::depth};
// Returns whether an operand has the dimensions of a role: A has no columns, B no rows, C no depth.
bool has(Operand operand, int role);

// Returns the number of elements of an operand, those of stride 0 counted repeatedly: a double, as it may exceed
// int64_t.
double elements_of(const Problem& problem, Operand operand);
// Returns the dimensions of a group from the largest stride in an operand to the smallest.
DimGroup sorted_by(Operand operand, const DimGroup& group);
// Returns the product of the sizes of the innermost dimensions that are contiguous together in an operand.
int64_t contiguous_count(const DimGroup& dims, Operand operand);

// Returns the cost of a problem with the operands in their current layout.
double cost_in_current_layout(const Problem& problem);
// Returns a lower bound of the cost of the problem with operands in any layout.
double least_cost(const Problem& problem);
// The cost of copying one element in long runs, and the overhead of a copy.
constexpr double kCopyElement = 0.15, kCopyOverhead = 300;

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COSTS_H_
