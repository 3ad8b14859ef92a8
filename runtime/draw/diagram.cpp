#include "draw/diagram.h"

#include <algorithm>
#include <cmath>

#include "draw/text.h"

namespace oneflow::draw {

namespace {

// The measures of monospaced text.
constexpr double kTitleColumn = 8, kColumn = 6.7, kTitleHeight = 18, kLineHeight = 15, kPadding = 10;
constexpr int kMostColumns = 56;

constexpr const char* kBoxRules = R"(
    g rect { fill: #f7f7f9; stroke: #84888f; }
)";
constexpr const char* kTextRules = R"(    text { font: 11px monospace; fill: #50545b; text-anchor: middle; }
    text.title { font-size: 13px; font-weight: bold; fill: #1d2026; }
)";
constexpr const char* kLineRules = R"(    path { fill: none; stroke: #84888f; }
  )";

// Draws a label on the line that starts at a point.
void draw_label(Svg& svg, const std::string& label, const Point& start) {
  const double width = kColumn * columns_of(label) + 4;
  svg.rectangle({{start.x - width / 2, start.y + 3}, width, kLineHeight}, "#ffffff");
  svg.text({start.x, start.y + kLineHeight}, label);
}

}  // namespace

int Diagram::add_box(Box box) {
  boxes_.push_back(std::move(box));
  return static_cast<int>(boxes_.size()) - 1;
}

int Diagram::add_line(int from, std::string label) {
  Box& start = box(from);
  start.label_width += kColumn * columns_of(label) + kPadding;
  ++start.line_count;
  lines_.push_back({from, 0, {}});
  labels_.push_back(std::move(label));
  return static_cast<int>(lines_.size()) - 1;
}

std::string Diagram::draw(const Style& style) && {
  std::vector<BoxSize> sizes;
  for (Box& box : boxes_) {
    for (TextLine& line : box.lines) line.text = cut_to(line.text, kMostColumns);
    sizes.push_back(size_of(box));
  }
  std::vector<int> placed(boxes_.size(), 0);
  for (Line& line : lines_) {
    const auto from = static_cast<size_t>(line.from);
    line.shift = sizes[from].width * (++placed[from] / (boxes_[from].line_count + 1.0) - 0.5);
  }
  const Drawing drawing = lay_out(sizes, lines_);
  Svg svg(drawing.width, drawing.height,
          kBoxRules + std::string(style.boxes) + kTextRules + std::string(style.texts) + kLineRules);
  for (size_t i = 0; i < lines_.size(); ++i) draw_line(svg, lines_[i], drawing.lines[i]);
  draw_ends(svg, drawing, sizes);
  for (size_t i = 0; i < boxes_.size(); ++i)
    draw_box(svg, boxes_[i], {drawing.boxes[i], sizes[i].width, sizes[i].height});
  for (size_t i = 0; i < lines_.size(); ++i) draw_label(svg, labels_[i], drawing.lines[i].points[0]);
  return std::move(svg).finish();
}

BoxSize Diagram::size_of(const Box& box) const {
  double width = std::max(box.label_width, kTitleColumn * columns_of(box.title));
  for (const TextLine& line : box.lines) width = std::max(width, kColumn * columns_of(line.text));
  return {std::round(width + 2 * kPadding),
          kTitleHeight + kLineHeight * static_cast<double>(box.lines.size()) + kPadding};
}

// Draws the part of a line that leads to no box.
void Diagram::draw_line(Svg& svg, const Line& line, const LinePath& path) const {
  const bool is_short = line.to.size() == 1 && path.points.size() == 2;
  if (is_short && path.points[0].y == path.points[1].y) return;
  Path drawn(path.points[0]);
  drawn.vertical_to(path.points[1].y);
  for (size_t i = 2; i + 1 < path.points.size(); i += 2)
    drawn.turn_to(path.points[i]).vertical_to(path.points[i + 1].y);
  svg.path(drawn);
}

// Draws the arrows to boxes, in the order in which they come from the left.
void Diagram::draw_ends(Svg& svg, const Drawing& drawing, const std::vector<BoxSize>& sizes) const {
  struct End {
    Point from;
    size_t order;
  };
  std::vector<std::vector<End>> ends(boxes_.size());
  size_t order = 0;
  for (size_t i = 0; i < lines_.size(); ++i)
    for (size_t k = 0; k < lines_[i].to.size(); ++k) {
      const auto last = static_cast<size_t>(drawing.lines[i].ends[k]) - 1;
      ends[static_cast<size_t>(lines_[i].to[k])].push_back({drawing.lines[i].points[last], order++});
    }
  for (size_t box = 0; box < boxes_.size(); ++box) {
    std::vector<End>& list = ends[box];
    std::sort(list.begin(), list.end(), [](const End& a, const End& b) {
      return a.from.x != b.from.x ? a.from.x < b.from.x : a.order < b.order;
    });
    for (size_t i = 0; i < list.size(); ++i) {
      const double share = static_cast<double>(i + 1) / static_cast<double>(list.size() + 1);
      svg.arrow(Path(list[i].from).turn_to({drawing.boxes[box].x + sizes[box].width * share, drawing.boxes[box].y}));
    }
  }
}

void Diagram::draw_box(Svg& svg, const Box& box, const Rectangle& area) const {
  svg.begin_group(box.style, box.hint);
  svg.rectangle(area, "", box.radius);
  Point at{area.corner.x + area.width / 2, area.corner.y + kTitleHeight};
  svg.text(at, box.title, "title");
  for (const TextLine& line : box.lines) {
    at.y += kLineHeight;
    svg.text(at, line.text, line.style);
  }
  svg.end_group();
}

}  // namespace oneflow::draw
