#include "draw/svg.h"

#include <cmath>

namespace oneflow::draw {

namespace {

// Returns a text as the content of an XML element.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char each : text) {
    switch (each) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += each;
    }
  }
  return result;
}

std::string pixels(double number) { return std::to_string(std::lround(number)); }
std::string pixels(const Point& point) { return pixels(point.x) + " " + pixels(point.y); }

// Returns an attribute, with a space before it.
std::string attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + std::string(value) + "\"";
}
std::string attribute(const char* name, double value) { return attribute(name, pixels(value)); }

}  // namespace

Path::Path(const Point& start) : at_(start), data_("M " + pixels(start)) {}

Path& Path::vertical_to(double y) {
  at_.y = y;
  data_ += " V " + pixels(y);
  return *this;
}

Path& Path::turn_to(const Point& to) {
  const double middle = (at_.y + to.y) / 2;
  if (pixels(at_.x) == pixels(to.x))
    data_ += " V " + pixels(to.y);
  else
    data_ += " C " + pixels({at_.x, middle}) + " " + pixels({to.x, middle}) + " " + pixels(to);
  at_ = to;
  return *this;
}

Svg::Svg(double width, double height, std::string_view style) {
  text_ = "<svg" + attribute("xmlns", "http://www.w3.org/2000/svg") + attribute("width", width) +
          attribute("height", height) + attribute("viewBox", "0 0 " + pixels(width) + " " + pixels(height)) + ">\n";
  line("<style>" + std::string(style) + "</style>");
  line(
      "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><polygon points=\"0 0 8 4 0 8\" fill=\"#84888f\"/></marker>");
  line("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
}

void Svg::rectangle(const Rectangle& area, std::string_view fill, int radius) {
  line("<rect" + attribute("x", area.corner.x) + attribute("y", area.corner.y) + attribute("width", area.width) +
       attribute("height", area.height) + (fill.empty() ? "" : attribute("fill", fill)) +
       (radius ? attribute("rx", radius) : "") + "/>");
}

void Svg::text(const Point& middle, std::string_view text, std::string_view style) {
  line("<text" + (style.empty() ? "" : attribute("class", style)) + attribute("x", middle.x) +
       attribute("y", middle.y) + ">" + escaped(text) + "</text>");
}

void Svg::path(const Path& path) { line("<path" + attribute("d", path.data()) + "/>"); }

void Svg::arrow(const Path& path) {
  line("<path" + attribute("d", path.data()) + attribute("marker-end", "url(#arrow)") + "/>");
}

void Svg::begin_group(std::string_view style, std::string_view hint) {
  line("<g" + attribute("class", style) + ">");
  ++depth_;
  line("<title>" + escaped(hint) + "</title>");
}

void Svg::end_group() {
  --depth_;
  line("</g>");
}

std::string Svg::finish() && { return std::move(text_ += "</svg>\n"); }

void Svg::line(const std::string& element) {
  text_ += std::string(static_cast<size_t>(2 * depth_), ' ') + element + "\n";
}

}  // namespace oneflow::draw
