// What graphs look like.
#ifndef ONEFLOW_DRAW_GRAPH_PICTURE_H_
#define ONEFLOW_DRAW_GRAPH_PICTURE_H_

#include <oneflow/session.hpp>
#include <string>

namespace oneflow::draw {

// Draws a graph as an SVG image: boxes for inputs, calls and outputs, and lines for the values between them, whose
// numbers are those of the text. Constants are in the boxes of the calls that use them. Equal graphs give equal images.
std::string graph_picture(const Graph& graph);

}  // namespace oneflow::draw

#endif  // ONEFLOW_DRAW_GRAPH_PICTURE_H_
