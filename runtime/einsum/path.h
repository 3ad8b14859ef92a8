// In which order to multiply several operands.
#ifndef ONEFLOW_EINSUM_PATH_H_
#define ONEFLOW_EINSUM_PATH_H_

#include <span>
#include <vector>

#include "einsum/equation.h"

namespace oneflow::einsum {

// Takes two operands off the list and puts their product at its end: left < right are positions in the list.
struct Step {
  int left, right;
};

// The order with the fewest multiplications, and among those the one with the smallest intermediates, for up to eight
// operands; beyond, each step takes the pair that shrinks the total of elements most. The last step leaves the result.
// `operands` are the labels of each one, `sizes` those of the labels.
std::vector<Step> find_path(std::span<const LabelSet> operands, const LabelSet& output, std::span<const int64_t> sizes);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PATH_H_
