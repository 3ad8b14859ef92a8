// The expansion of composites: a graph of the calls in their bodies.
#ifndef ONEFLOW_GRAPH_EXPAND_H_
#define ONEFLOW_GRAPH_EXPAND_H_

#include <set>

#include "graph/graph.h"

namespace oneflow::graph {

// Returns a graph in which calls of composites, except those of `kept`, are replaced by the calls of their bodies.
Ref<Graph> expand(const Graph& graph, std::set<const Operator*> kept);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_EXPAND_H_
