// The removal of calls whose results nothing uses.
#ifndef ONEFLOW_GRAPH_PROGRAM_DEAD_CODE_H_
#define ONEFLOW_GRAPH_PROGRAM_DEAD_CODE_H_

#include "graph/program/program.h"

namespace oneflow::graph {

// Removes the calls that no output depends on, and constants that nothing uses. Calls that write, or that draw random
// numbers, stay: later ones draw others without them.
void remove_unused_calls(Program& program);

// The same, and numbers the values that are left in the order of their definitions.
void remove_dead_code(Program& program);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_DEAD_CODE_H_
