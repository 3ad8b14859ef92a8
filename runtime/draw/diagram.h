// Diagrams: boxes with texts in rows from top to bottom, and labelled lines that lead down between them.
#ifndef ONEFLOW_DRAW_DIAGRAM_H_
#define ONEFLOW_DRAW_DIAGRAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "draw/layout.h"
#include "draw/svg.h"

namespace oneflow::draw {

// The rules for the classes of boxes and of texts (CSS), each on a line of its own.
struct Style {
  std::string_view boxes, texts;
};

struct TextLine {
  std::string text;
  const char* style = "";  // a class; "": none
};

struct Box {
  const char* style;  // a class
  int radius;         // of the corners
  std::string title;
  std::string hint;             // what is shown when the box is pointed at
  std::vector<TextLine> lines;  // below the title; long ones are cut
  double label_width = 0;       // of all labels below it
  int line_count = 0;           // that begin at it
};

// Equal boxes and lines give equal images.
class Diagram {
 public:
  // Adds a box, and returns its number.
  int add_box(Box box);
  // Returns a box, whose texts may change.
  Box& box(int number) { return boxes_[static_cast<size_t>(number)]; }
  // Adds a line that begins at a box, and returns its number.
  int add_line(int from, std::string label);
  // Leads a line to a box with a larger number than the one at its beginning.
  void lead(int line, int box) { lines_[static_cast<size_t>(line)].to.push_back(box); }
  // Returns the image.
  std::string draw(const Style& style) &&;

 private:
  BoxSize size_of(const Box& box) const;
  void draw_line(Svg& svg, const Line& line, const LinePath& path) const;
  void draw_ends(Svg& svg, const Drawing& drawing, const std::vector<BoxSize>& sizes) const;
  void draw_box(Svg& svg, const Box& box, const Rectangle& area) const;

  std::vector<Box> boxes_;
  std::vector<Line> lines_;
  std::vector<std::string> labels_;  // of the lines
};

}  // namespace oneflow::draw

#endif  // ONEFLOW_DRAW_DIAGRAM_H_
