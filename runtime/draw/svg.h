// The elements of an SVG image: rectangles, texts and paths. Places are rounded to pixels.
#ifndef ONEFLOW_DRAW_SVG_H_
#define ONEFLOW_DRAW_SVG_H_

#include <string>
#include <string_view>

#include "draw/geometry.h"

namespace oneflow::draw {

// A line of straight and curved parts.
class Path {
 public:
  explicit Path(const Point& start);
  // Leads the path up or down.
  Path& vertical_to(double y);
  // Leads the path to a lower point, with a curve that begins and ends vertically.
  Path& turn_to(const Point& to);
  const std::string& data() const { return data_; }

 private:
  Point at_;
  std::string data_;
};

// An image on a white background. What is drawn later covers what is drawn before.
class Svg {
 public:
  // `style` has the rules for the classes of elements (CSS), each on a line of its own.
  Svg(double width, double height, std::string_view style);

  // Draws a rectangle. `fill` is a color; "": that of the class. The corners are circles of the given radius.
  void rectangle(const Rectangle& area, std::string_view fill, int radius = 0);
  // Draws a text around the middle of its base line.
  void text(const Point& middle, std::string_view text, std::string_view style = "");
  void path(const Path& path);
  // Draws a path that ends with an arrow.
  void arrow(const Path& path);
  // Begins a group of elements with a class, and with what readers show when it is pointed at.
  void begin_group(std::string_view style, std::string_view hint);
  void end_group();
  // Returns the image.
  std::string finish() &&;

 private:
  void line(const std::string& element);

  int depth_ = 1;
  std::string text_;
};

}  // namespace oneflow::draw

#endif  // ONEFLOW_DRAW_SVG_H_
