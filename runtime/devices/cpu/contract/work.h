// The work of a contraction, from which the strategies estimate what they cost.
//
// A cost is the time in nanoseconds on one thread of a 3.5 GHz processor. It counts vector multiplications, by the role
// of the dimension that the vectors run along, and adds what layouts cost: strided loads and stores, packing, adding up
// the lanes of sums. Only ratios of costs matter, so that it need not match other processors.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_WORK_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_WORK_H_

#include "contract/kernels.h"
#include "contract/problem.h"

namespace oneflow::cpu {

// Multiplying two vectors that run along the rows or columns, along the batch, or along the depth.
constexpr double kAlongSide = 0.35, kAlongBatch = 0.55, kAlongDepth = 0.45;
// Multiplying two elements one by one.
constexpr double kScalar = 3;
// Adding up the lanes of a sum.
constexpr double kAddLanes = 1.5;
// The overhead of each contiguous run of C of single products.
constexpr double kRunOverhead = 2;
// Storing an element of C that is not contiguous with the one before.
constexpr double kStridedStore = 1.2;
// Packing an element that is in a long contiguous run, or strided.
constexpr double kPack = 0.3, kPackStrided = 2;
// The cost of copying one element in long runs, and the overhead of a copy.
constexpr double kCopyElement = 0.15, kCopyOverhead = 300;
// Elements of float32 in a cache line.
constexpr int64_t kLineElements = 16;

struct Work {
  // Refers to the problem.
  explicit Work(const Problem& problem);

  // Returns the cost of vectors along contiguous runs of `run` elements of a role.
  double along(int role, int64_t run, double run_overhead = 0) const;
  // Returns whether each element of an operand is multiplied only once or twice.
  bool is_thin() const { return min_side <= kThin || problem.depth.count == 1; }
  // Returns the cost of vectors that are full, along the rows or columns: no strategy costs less.
  double least() const { return multiplications / static_cast<double>(kernels.lane_count) * kAlongSide; }

  // Returns the vectors, or smaller steps, of a run of elements.
  int64_t steps_of(int64_t run) const;

  const Problem& problem;
  const ContractKernels& kernels;
  int64_t item_size;
  int64_t min_side;             // the rows or the columns, the fewer ones
  double elements[3];           // of A, B and C
  double multiplications;       // of elements
  bool exceeds_l1, exceeds_l2;  // whether the operands do
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_WORK_H_
