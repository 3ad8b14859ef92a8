// The expansion of composites: a program of the calls in their bodies.
#ifndef ONEFLOW_GRAPH_CAPTURE_EXPAND_H_
#define ONEFLOW_GRAPH_CAPTURE_EXPAND_H_

#include <set>

#include "graph/program/program.h"

namespace oneflow::graph {

// Returns a program in which calls of composites, except those of `kept`, are replaced by the calls of their bodies.
Program expand(const Program& program, std::set<const Operator*> kept);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_CAPTURE_EXPAND_H_
