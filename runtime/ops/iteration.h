// The iteration space of a kernel: the shape that all operands broadcast to, with as few dimensions as their strides
// allow.
#ifndef ONEFLOW_OPS_ITERATION_H_
#define ONEFLOW_OPS_ITERATION_H_

#include <oneflow/device_plugin.h>

#include <span>

#include "base/shape.h"
#include "dispatch/schema.h"

namespace oneflow {

// The sizes of an iteration space and the strides of every operand in it. merge() joins adjacent dimensions that every
// operand traverses with a single stride, and drops dimensions of size 1.
//
// For example, sizes {2, 3, 4} with strides {12, 4, 1} and {12, 4, 1} become {24} with {1} and {1}; with {12, 4, 1} and
// {4, 0, 1} nothing can be merged.
class Iteration {
 public:
  static constexpr int kMaxOperands = kMaxArguments + kMaxResults;

  // Creates an iteration space of the given sizes, the outermost dimension first.
  explicit Iteration(Sizes sizes);

  // Adds an operand that broadcasts to the sizes; dimensions are aligned at the end.
  void add(Sizes sizes, Sizes strides);
  // Sorts the dimensions by the absolute strides of the first operand, in descending order.
  void sort_by_first_operand();
  // Merges and drops dimensions. With `marks`, a bit set of dimensions, only dimensions with equal bits are merged;
  // `marks` is updated to the new dimensions, of which at least one is marked (a dimension of size 1 is added if
  // needed).
  void merge(uint32_t* marks = nullptr);

  int rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  const int64_t* strides(int operand) const { return strides_[operand]; }

 private:
  int rank_;
  int operands_ = 0;
  int64_t sizes_[OF_MAX_RANK];
  int64_t strides_[kMaxOperands][OF_MAX_RANK];
};

}  // namespace oneflow

#endif  // ONEFLOW_OPS_ITERATION_H_
