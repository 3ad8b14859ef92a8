// Pictures of graphs.
#ifndef ONEFLOW_GRAPH_PICTURE_H_
#define ONEFLOW_GRAPH_PICTURE_H_

#include <string>

#include "graph/graph.h"

namespace oneflow::graph {

// Draws a program as an SVG image: boxes for inputs, calls and outputs, and lines for the values between them, whose
// numbers are those of the text. Constants are in the boxes of the calls that use them. Equal programs give equal
// texts.
std::string draw(const Program& program);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PICTURE_H_
