// Contractions over the operands where they lie, without packing: for products that are thin (a matrix and a vector,
// two vectors, batches of them) or tiny.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_H_

#include <memory>

#include "contract_problem.h"

namespace oneflow::cpu {

// Multiplications of one member of the batch up to which the whole product is tiny.
constexpr int64_t kTiny = 16 * 16 * 16;
// Elements of C up to which sums are dots rather than packed: panels would be all but empty.
constexpr int64_t kFewCells = 16;
// Depths from which on elements that lie apart are worth copying.
constexpr int64_t kFewDepths = 32;
// Members of a batch that are lanes, where they lie next to each other everywhere.
constexpr int64_t kBatchLanes = 8;

// NULL where the problem is not of that kind. The latter does not cut the depth into pieces.
std::unique_ptr<Solution> solve_directly(const Problem& problem);
std::unique_ptr<Solution> solve_whole(const Problem& problem);

// Whether sums of several rows and columns are worked out within vectors, for which their operands lie well.
bool fits_vectors(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_H_
