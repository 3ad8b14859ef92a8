// Thin contractions whose smaller operand is strided along the depth: copies it into contiguous memory first.
//
// For ik,k->i with a matrix of 1,000 x 1,000 and a column of a row-major matrix, for example, the copy of 1,000
// elements makes each element of C a dot product of contiguous vectors, and each copied element is used 1,000 times.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COPIED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COPIED_H_

#include <memory>

#include "contract/problem.h"
#include "contract/work.h"

namespace oneflow::cpu {

// Returns NULL where the longer operand is not contiguous along the depth, where the smaller one is contiguous, too
// large for the second-level cache or used too few times, or where no kernel reads the operands after the copy in
// place.
std::unique_ptr<Solution> solve_with_copy(const Problem& problem);
// Returns what that costs where the copy makes dot products of a thin problem; INFINITY otherwise.
double cost_with_copy(const Work& work);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_COPIED_H_
