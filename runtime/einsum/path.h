// In which order to multiply several operands.
#ifndef ONEFLOW_EINSUM_PATH_H_
#define ONEFLOW_EINSUM_PATH_H_

#include <span>
#include <vector>

#include "einsum/equation.h"

namespace oneflow::einsum {

// Multiplies two operands, by their numbers. The products are numbered on behind the operands.
struct Step {
  size_t left, right;
  LabelSet labels;  // of the product: what the result or a later step needs
};

// The order with the fewest multiplications, and among those the one with the smallest intermediates, for up to eight
// operands; beyond, each step takes the pair that shrinks the total of elements most. The last step leaves the result.
// `operands` are the labels of each one, `sizes` those of the labels.
std::vector<Step> find_path(std::span<const LabelSet> operands, const LabelSet& output, std::span<const int64_t> sizes);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PATH_H_
