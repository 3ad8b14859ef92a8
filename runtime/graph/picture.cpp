#include "graph/picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/characters.h"
#include "graph/layout.h"
#include "graph/text.h"

namespace oneflow::graph {

namespace {

// The measures of monospaced text, in pixels.
constexpr double kTitleColumn = 8, kColumn = 6.7, kTitleHeight = 18, kLineHeight = 15, kPadding = 10;
constexpr int kMostColumns = 56;

constexpr const char* kStyle = R"(
    g rect { fill: #f7f7f9; stroke: #84888f; }
    g.input rect { fill: #e2f1e0; stroke: #559150; }
    g.output rect { fill: #deebf7; stroke: #4479ad; }
    g.state rect { fill: #ece6f5; stroke: #7b62a8; }
    g.constant rect { fill: #fdf1de; stroke: #b98435; }
    text { font: 11px monospace; fill: #50545b; text-anchor: middle; }
    text.title { font-size: 13px; font-weight: bold; fill: #1d2026; }
    text.weight { fill: #935d0f; }
    path { fill: none; stroke: #84888f; }
  )";

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

struct TextLine {
  std::string text;
  const char* style;  // a class; "": none
};

struct Box {
  const char* style;
  std::string title, hint;
  std::vector<TextLine> lines;
  double width = 0;  // of the labels below it
  int values = 0;    // that lead from it
};

class Picture {
 public:
  explicit Picture(const Program& program) : program_(program) {}

  std::string run() {
    for (const Constant& constant : program_.constants) constants_[constant.value] = &constant;
    for (const Input& input : program_.inputs)
      define(input.value, add_box({"input", printable(input.name), "input", {type_line(input.value)}}));
    for (size_t i = 0; i < program_.nodes.size(); ++i) add_call(i);
    for (size_t i = 0; i < program_.outputs.size(); ++i) add_output(i);
    return draw();
  }

 private:
  TextLine type_line(ValueId value) const { return {type_text(program_, value), ""}; }
  std::string label_of(ValueId value) const { return "%" + std::to_string(value) + " " + type_text(program_, value); }

  int add_box(Box box) {
    boxes_.push_back(std::move(box));
    return static_cast<int>(boxes_.size()) - 1;
  }

  // Says that a box gives a value, or changes it.
  void define(ValueId value, int box) { sources_[value] = {box, -1}; }

  // Leads a value to a box.
  void use(ValueId value, int box) {
    const auto found = sources_.find(value);
    if (found == sources_.end()) return;
    auto& [source, line] = found->second;
    if (line < 0) {
      line = static_cast<int>(lines_.size());
      lines_.push_back({source, 0, {}});
      values_.push_back(value);
      Box& from = boxes_[static_cast<size_t>(source)];
      from.width += kColumn * columns_of(label_of(value)) + kPadding;
      ++from.values;
    }
    lines_[static_cast<size_t>(line)].to.push_back(box);
  }

  void add_call(size_t number) {
    const Node& node = program_.nodes[number];
    const Schema& schema = node.op->schema();
    const int box = add_box({"call", schema.name, "call " + std::to_string(number), {}});
    std::set<ValueId> changed;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const Argument& argument = node.arguments[i];
      const oneflow::Argument& described = schema.arguments[i];
      if (argument.kind == OF_VALUE_TENSOR || argument.kind == OF_VALUE_TENSOR_LIST) {
        for (size_t k = 0; k < argument.values.size(); ++k) {
          const std::string item = argument.kind == OF_VALUE_TENSOR ? "" : "[" + std::to_string(k) + "]";
          add_operand(box, described.name + item, argument.values[k]);
          if (node.writes && described.is_written) changed.insert(argument.values[k]);
        }
      } else if (argument.kind != OF_VALUE_NONE && !(described.default_text && argument == default_of(described))) {
        boxes_.back().lines.push_back({described.name + ("=" + argument_text(program_, argument)), ""});
      }
    }
    for (const ValueId result : node.results)
      if (node.gives_results) use(result, box);
    changed.insert(node.results.begin(), node.results.end());
    for (const ValueId value : changed)
      if (!constants_.contains(value)) define(value, box);
  }

  void add_operand(int box, const std::string& name, ValueId value) {
    const auto constant = constants_.find(value);
    if (value == kNoValue) return;
    if (constant == constants_.end()) return use(value, box);
    Box& user = boxes_[static_cast<size_t>(box)];
    user.lines.push_back({name + " " + type_text(program_, value), "weight"});
    user.hint += "\n" + name + ": %" + std::to_string(value) + " " + printable(constant->second->name);
  }

  void add_output(size_t number) {
    const Output& output = program_.outputs[number];
    if (const auto constant = constants_.find(output.value);
        constant != constants_.end() && !sources_.contains(output.value))
      define(output.value,
             add_box({"constant", printable(constant->second->name), "constant", {type_line(output.value)}}));
    const bool is_returned = number < program_.returned;
    const char* kind = is_returned ? "output" : "state";
    use(output.value, add_box({kind, printable(output.name), kind, {type_line(output.value)}}));
  }

  BoxSize size_of(const Box& box) const {
    double width = std::max(box.width, kTitleColumn * columns_of(box.title));
    for (const TextLine& line : box.lines) width = std::max(width, kColumn * columns_of(line.text));
    return {std::round(width + 2 * kPadding),
            kTitleHeight + kLineHeight * static_cast<double>(box.lines.size()) + kPadding};
  }

  std::string draw() {
    std::vector<BoxSize> sizes;
    for (Box& box : boxes_) {
      for (TextLine& line : box.lines) line.text = cut_to(line.text, kMostColumns);
      sizes.push_back(size_of(box));
    }
    std::vector<int> placed(boxes_.size(), 0);
    for (Line& line : lines_) {
      const auto from = static_cast<size_t>(line.from);
      line.shift = sizes[from].width * (++placed[from] / (boxes_[from].values + 1.0) - 0.5);
    }
    const Drawing drawing = lay_out(sizes, lines_);
    const std::string width = pixels(drawing.width), height = pixels(drawing.height);
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
           "\" viewBox=\"0 0 " + width + " " + height + "\">\n  <style>" + kStyle + "</style>\n" +
           "  <marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
           "orient=\"auto\"><polygon points=\"0 0 8 4 0 8\" fill=\"#84888f\"/></marker>\n"
           "  <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    for (size_t i = 0; i < lines_.size(); ++i) draw_line(lines_[i], drawing.lines[i]);
    draw_ends(drawing, sizes);
    for (size_t i = 0; i < boxes_.size(); ++i) draw_box(boxes_[i], drawing.boxes[i], sizes[i]);
    for (size_t i = 0; i < lines_.size(); ++i) draw_label(label_of(values_[i]), drawing.lines[i].points[0]);
    return svg_ + "</svg>\n";
  }

  // Returns the part of a path that turns from a point to a lower one; it begins and ends vertically.
  static std::string turn(const Point& from, const Point& to) {
    if (pixels(from.x) == pixels(to.x)) return " V " + pixels(to.y);
    const double middle = (from.y + to.y) / 2;
    return " C " + pixels({from.x, middle}) + " " + pixels({to.x, middle}) + " " + pixels(to);
  }

  // Draws the part of a line that leads to no box.
  void draw_line(const Line& line, const LinePath& path) {
    const bool is_short = line.to.size() == 1 && path.points.size() == 2;
    std::string data = "M " + pixels(path.points[0]) + " V " + pixels(path.points[1].y);
    for (size_t i = 2; i + 1 < path.points.size(); i += 2)
      data += turn(path.points[i - 1], path.points[i]) + " V " + pixels(path.points[i + 1].y);
    if (!is_short || path.points[0].y != path.points[1].y) svg_ += "  <path d=\"" + data + "\"/>\n";
  }

  // Draws the arrows to boxes, in the order in which they come from the left.
  void draw_ends(const Drawing& drawing, const std::vector<BoxSize>& sizes) {
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
        const Point to{drawing.boxes[box].x + sizes[box].width * share, drawing.boxes[box].y};
        svg_ += "  <path d=\"M " + pixels(list[i].from) + turn(list[i].from, to) + "\" marker-end=\"url(#arrow)\"/>\n";
      }
    }
  }

  // Draws a label on the line that starts at a point.
  void draw_label(const std::string& label, const Point& start) {
    const double width = kColumn * columns_of(label) + 4;
    svg_ += "  <rect x=\"" + pixels(start.x - width / 2) + "\" y=\"" + pixels(start.y + 3) + "\" width=\"" +
            pixels(width) + "\" height=\"" + pixels(kLineHeight) + "\" fill=\"#ffffff\"/>\n";
    add_text("", {start.x, start.y + kLineHeight}, label);
  }

  void draw_box(const Box& box, const Point& corner, const BoxSize& size) {
    svg_ += std::string("  <g class=\"") + box.style + "\">\n    <title>" + escaped(box.hint) + "</title>\n" +
            "    <rect x=\"" + pixels(corner.x) + "\" y=\"" + pixels(corner.y) + "\" width=\"" + pixels(size.width) +
            "\" height=\"" + pixels(size.height) + "\" rx=\"" + (std::string_view(box.style) == "call" ? "4" : "12") +
            "\"/>\n";
    Point at{corner.x + size.width / 2, corner.y + kTitleHeight};
    svg_ += "  ";
    add_text("title", at, box.title);
    for (const TextLine& line : box.lines) {
      at.y += kLineHeight;
      svg_ += "  ";
      add_text(line.style, at, line.text);
    }
    svg_ += "  </g>\n";
  }

  void add_text(const std::string& style, const Point& at, const std::string& text) {
    const std::string attribute = style.empty() ? "" : " class=\"" + style + "\"";
    svg_ +=
        "  <text" + attribute + " x=\"" + pixels(at.x) + "\" y=\"" + pixels(at.y) + "\">" + escaped(text) + "</text>\n";
  }

  const Program& program_;
  std::map<ValueId, const Constant*> constants_;
  std::map<ValueId, std::pair<int, int>> sources_;  // the box that gave each value last, and its line; -1: none yet
  std::vector<Box> boxes_;
  std::vector<Line> lines_;
  std::vector<ValueId> values_;  // of the lines
  std::string svg_;
};

}  // namespace

std::string draw(const Program& program) { return Picture(program).run(); }

}  // namespace oneflow::graph
