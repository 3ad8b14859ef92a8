// The check of programs, which come from captures, files and passes.
#ifndef ONEFLOW_GRAPH_PROGRAM_CHECK_H_
#define ONEFLOW_GRAPH_PROGRAM_CHECK_H_

#include "graph/program/program.h"

namespace oneflow::graph {

// Throws InvalidArgument unless all numbers are those of values that are defined before, names are unique, and by
// inference with the examples of the named sizes all values have the types and shapes that the program says. Sets
// Node::writes and Output::shares_constant. Errors of calls name the call.
void check_program(Program& program);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_CHECK_H_
