// The sizes of the labels of an equation.
#ifndef ONEFLOW_EINSUM_SIZES_H_
#define ONEFLOW_EINSUM_SIZES_H_

#include <span>
#include <string>
#include <vector>

#include "einsum/equation.h"

namespace oneflow::einsum {

// The names of the operands for error texts. Empty if the user wrote an equation, whose labels error texts name
// instead.
using OperandNames = std::span<const std::string>;

// Returns the size of each label, from the shapes of the operands. Throws ShapeError if the sizes of a label differ and
// do not broadcast; the text is, without and with operand names,
//   "label 'j' is 3 in operand 0 and 4 in operand 1", followed by the position in the equation
//   "input of shape [1, 2] and other of shape [1, 2] do not fit: sizes 2 and 1 are contracted"
std::vector<int64_t> label_sizes(const Equation& equation, std::span<const Sizes> shapes, OperandNames operand_names);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_SIZES_H_
