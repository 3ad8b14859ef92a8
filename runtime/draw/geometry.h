// Places in drawings, in pixels from the upper left corner.
#ifndef ONEFLOW_DRAW_GEOMETRY_H_
#define ONEFLOW_DRAW_GEOMETRY_H_

namespace oneflow::draw {

struct Point {
  double x, y;
};

struct Rectangle {
  Point corner;  // the upper left one
  double width, height;
};

}  // namespace oneflow::draw

#endif  // ONEFLOW_DRAW_GEOMETRY_H_
