// The iteration space of a kernel: all operands brought to one shape, with as few dimensions as their strides allow.
#ifndef ONEFLOW_OPS_ITERATION_H_
#define ONEFLOW_OPS_ITERATION_H_

#include <oneflow/device_plugin.h>

#include <span>

#include "base/shape.h"

namespace oneflow {

// Merges neighbouring dimensions that every operand walks through without a jump, and drops those of size 1.
//
// For example, sizes {2, 3, 4} with strides {12, 4, 1} and {12, 4, 1} become {24} with {1} and {1}; with {12, 4, 1} and
// {4, 0, 1} nothing can be merged.
class Iteration {
 public:
  static constexpr int kMaxOperands = 16;

  // Row-major sizes that all operands share.
  explicit Iteration(Sizes sizes);

  // Adds an operand that broadcasts to the sizes: dimensions line up at the end.
  void add(Sizes sizes, Sizes strides);
  // Puts dimensions in the order of the first operand's strides, the smallest last.
  void sort_by_first_operand();
  // Only dimensions with equal bits in `marks` are merged. Bit d stands for dimension d before and after; at least one
  // marked dimension remains, if of size 1.
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
