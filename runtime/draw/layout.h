// The layout of layered drawings: boxes in rows from top to bottom, and lines that lead down between them.
#ifndef ONEFLOW_DRAW_LAYOUT_H_
#define ONEFLOW_DRAW_LAYOUT_H_

#include <span>
#include <vector>

#include "draw/geometry.h"

namespace oneflow::draw {

struct BoxSize {
  double width, height;
};

// A line from one box to others, whose numbers are larger.
struct Line {
  int from;
  double shift;         // where it leaves the box, from its middle
  std::vector<int> to;  // a box may occur several times
};

// The places of a line. The first two are below its box: at its lower edge, and a bit below that of the row, so that
// there is room for a label. Then two follow for each row that the line passes: at its upper edge, and below it.
struct LinePath {
  std::vector<Point> points;
  std::vector<int> ends;  // for each item of `to`, the number of points before the line turns to that box
};

struct Drawing {
  std::vector<Point> boxes;  // the upper left corners
  std::vector<LinePath> lines;
  double width = 0, height = 0;
};

// Lays out boxes. The row of a box is the longest path to it; boxes without lines to them are just above those that
// they lead to. The order within rows keeps crossings few, and boxes are close to those that they are connected with.
// Equal arguments give equal drawings.
Drawing lay_out(std::span<const BoxSize> boxes, std::span<const Line> lines);

}  // namespace oneflow::draw

#endif  // ONEFLOW_DRAW_LAYOUT_H_
