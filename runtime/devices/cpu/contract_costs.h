// What contractions take as their operands lie, about: to compare ways to arrange them with each other.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_COSTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_COSTS_H_

#include "contract_problem.h"

namespace oneflow::cpu {

enum Role { kBatch, kRows, kColumns, kDepth, kRoles };
constexpr DimGroup Problem::*kGroups[] = {&Problem::batch, &Problem::rows, &Problem::columns, &Problem::depth};
bool has(Operand operand, int role);

// A double: repeated elements may be more than integers count.
double elements_of(const Problem& problem, Operand operand);
// The dimensions of a role in the order in which they lie in an operand.
DimGroup in_order_of(const DimGroup& group, Operand operand);
// How many elements of the dimensions, from the innermost on, lie next to each other.
int64_t run_of(const DimGroup& dims, Operand operand);

// In nanoseconds on one thread of a processor of 3.5 GHz; only what they are to each other matters.
double cost_as_it_lies(const Problem& problem);
// With operands that lie as well as can be.
double least_cost(const Problem& problem);
// Copying an element in long runs, and one copy besides.
constexpr double kCopy = 0.15, kCopying = 300;

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_COSTS_H_
