// The canonical text of programs, which files store and people read:
//
//     graph 1
//     size batch = 4 in 1..9223372036854775807
//     operator linear: linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
//     input %0 "x": float32[batch, 64]
//     constant %1 "weight": float32[10, 64]
//     %2: float32[batch, 10] = linear(input=%0, weight=%1)
//     output %2 "tensor"
//
// Further outputs, called `state`, are tensors to which the program writes.
//
// Values are numbered in the order of their definitions. Operators are stored by their signatures, so that calls of an
// earlier version are converted, and those of another version with other operators recognized. Arguments with their
// default values are left out. A call that writes its results to values that exist has `!` in place of their types. A
// size is a sum of products of numbers, named sizes and dimensions such as %2.0, divided by a number: (2*batch*%2.1 +
// 1)/4.
#ifndef ONEFLOW_GRAPH_PROGRAM_TEXT_H_
#define ONEFLOW_GRAPH_PROGRAM_TEXT_H_

#include <string>
#include <string_view>

#include "graph/program/program.h"

namespace oneflow::graph {

// Returns whether named sizes can have a name: a word that means nothing else in the text.
bool is_size_name(std::string_view name);

std::string to_text(const Program& program);

// Return a size of a value, and an argument of a call, as the text has them.
std::string size_text(const Program& program, ValueId value, size_t dim);
std::string argument_text(const Program& program, const Argument& argument);

// Finds the operator of a declaration by its name and its signature.
using FindStored = StoredOperator (*)(std::string_view name, std::string_view signature);
// Reads a text. The constants have no tensors yet. Throws InvalidArgument with the number of the line.
Program parse(std::string_view text, FindStored find = find_stored);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_TEXT_H_
