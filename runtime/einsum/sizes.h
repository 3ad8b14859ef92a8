// The size of each label of an equation, from the shapes of the operands.
#ifndef ONEFLOW_EINSUM_SIZES_H_
#define ONEFLOW_EINSUM_SIZES_H_

#include <span>
#include <vector>

#include "einsum/equation.h"

namespace oneflow::einsum {

// How an error names what it is about: by the labels that the user wrote, or, where the user wrote none, by the names
// of the two operands.
using OperandNames = std::span<const char* const>;

// ShapeError where the sizes of a label differ and do not broadcast:
//   "label 'j' is 3 in operand 0 and 4 in operand 1", and where in the equation    without operand names
//   "input of shape [1, 2] and other of shape [1, 2] do not fit: sizes 2 and 1 are contracted"
std::vector<int64_t> label_sizes(const Equation& equation, std::span<const Sizes> shapes, OperandNames operand_names);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_SIZES_H_
