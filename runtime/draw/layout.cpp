#include "draw/layout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace oneflow::draw {

namespace {

constexpr double kBoxGap = 28, kLineGap = 14, kRowGap = 60, kStub = 22, kMargin = 20;
constexpr int kOrderSweeps = 12, kPlaceSweeps = 8;

// A box, or the place where a line passes a row.
struct Item {
  int row;
  double width;
  bool is_box;
  double x = 0;               // of its middle
  size_t position = 0;        // within its row
  std::vector<int> up, down;  // the items that it is connected with, in the rows above and below
};

class Layout {
 public:
  Layout(std::span<const BoxSize> boxes, std::span<const Line> lines) : boxes_(boxes), lines_(lines) {}

  Drawing run() {
    if (boxes_.empty()) return {};
    find_rows();
    add_passes();
    fill_rows();
    order();
    place();
    return draw();
  }

 private:
  void find_rows() {
    std::vector<int> rows(boxes_.size(), 0);
    std::vector<bool> has_line_to(boxes_.size(), false);
    std::vector<int> first_below(boxes_.size(), INT32_MAX);
    std::vector<const Line*> by_box(lines_.size());
    for (size_t i = 0; i < lines_.size(); ++i) by_box[i] = &lines_[i];
    std::stable_sort(by_box.begin(), by_box.end(), [](const Line* a, const Line* b) { return a->from < b->from; });
    for (const Line* line : by_box)
      for (const int to : line->to) {
        int& row = rows[static_cast<size_t>(to)];
        row = std::max(row, rows[static_cast<size_t>(line->from)] + 1);
        has_line_to[static_cast<size_t>(to)] = true;
      }
    for (const Line& line : lines_)
      for (const int to : line.to) {
        int& first = first_below[static_cast<size_t>(line.from)];
        first = std::min(first, rows[static_cast<size_t>(to)]);
      }
    for (size_t i = 0; i < boxes_.size(); ++i) {
      if (!has_line_to[i] && first_below[i] != INT32_MAX) rows[i] = first_below[i] - 1;
      items_.push_back({rows[i], boxes_[i].width, true, 0, 0, {}, {}});
    }
  }

  // Adds the items of the rows that lines pass, and connects all items.
  void add_passes() {
    for (const Line& line : lines_) {
      std::vector<int>& passes = passes_.emplace_back();
      const int row = item(line.from).row;
      int last = row;
      for (const int to : line.to) last = std::max(last, item(to).row - 1);
      for (int at = row + 1; at <= last; ++at) {
        items_.push_back({at, 0, false, 0, 0, {}, {}});
        const int added = static_cast<int>(items_.size()) - 1;
        connect(passes.empty() ? line.from : passes.back(), added);
        passes.push_back(added);
      }
      for (const int to : line.to) {
        const int passed = item(to).row - row - 1;
        connect(passed == 0 ? line.from : passes[static_cast<size_t>(passed) - 1], to);
      }
    }
  }

  void connect(int upper, int lower) {
    item(upper).down.push_back(lower);
    item(lower).up.push_back(upper);
  }

  // Fills the rows in the order of a depth-first walk, so that what belongs together starts together.
  void fill_rows() {
    int count = 0;
    for (const Item& each : items_) count = std::max(count, each.row + 1);
    rows_.resize(static_cast<size_t>(count));
    std::vector<bool> is_seen(items_.size(), false);
    std::vector<int> waiting;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].up.empty()) waiting.push_back(static_cast<int>(i));
      while (!waiting.empty()) {
        const int at = waiting.back();
        waiting.pop_back();
        if (is_seen[static_cast<size_t>(at)]) continue;
        is_seen[static_cast<size_t>(at)] = true;
        row_of(at).push_back(at);
        waiting.insert(waiting.end(), item(at).down.rbegin(), item(at).down.rend());
      }
    }
    for (std::vector<int>& row : rows_) number(row);
  }

  void number(const std::vector<int>& row) {
    for (size_t i = 0; i < row.size(); ++i) item(row[i]).position = i;
  }

  // Sorts rows by the mean positions of the items above and below in turn, and keeps the order with fewest crossings.
  void order() {
    std::vector<std::vector<int>> best = rows_;
    uint64_t fewest = count_crossings();
    for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
      const bool is_down = sweep % 2 == 0;
      for (size_t i = 1; i < rows_.size(); ++i) sort(rows_[is_down ? i : rows_.size() - 1 - i], is_down);
      if (const uint64_t found = count_crossings(); found < fewest) {
        fewest = found;
        best = rows_;
      }
    }
    rows_ = std::move(best);
    for (const std::vector<int>& row : rows_) number(row);
  }

  void sort(std::vector<int>& row, bool by_upper) {
    std::vector<std::pair<double, int>> keyed;
    for (const int each : row) {
      const std::vector<int>& others = by_upper ? item(each).up : item(each).down;
      double sum = 0;
      for (const int other : others) sum += static_cast<double>(item(other).position);
      const double mean =
          others.empty() ? static_cast<double>(item(each).position) : sum / static_cast<double>(others.size());
      keyed.emplace_back(mean, each);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < row.size(); ++i) row[i] = keyed[i].second;
    number(row);
  }

  // Counts the crossings between all rows. Two lines cross if their ends are in opposite orders: the lines are taken by
  // their upper ends, and a binary indexed tree counts those before with a lower end further right.
  uint64_t count_crossings() const {
    uint64_t crossings = 0;
    std::vector<uint64_t> tree;
    std::vector<size_t> ends;
    for (size_t r = 0; r + 1 < rows_.size(); ++r) {
      const size_t size = rows_[r + 1].size();
      tree.assign(size + 1, 0);
      uint64_t before = 0;
      for (const int upper : rows_[r]) {
        ends.clear();
        for (const int lower : item(upper).down) ends.push_back(item(lower).position);
        for (const size_t end : ends) {
          uint64_t not_right = 0;
          for (size_t at = end + 1; at > 0; at -= at & (0 - at)) not_right += tree[at];
          crossings += before - not_right;
        }
        for (const size_t end : ends)
          for (size_t at = end + 1; at <= size; at += at & (0 - at)) ++tree[at];
        before += ends.size();
      }
    }
    return crossings;
  }

  // Moves items to the mean of those that they are connected with, as far as their neighbours allow.
  void place() {
    for (const std::vector<int>& row : rows_) {
      double at = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0) at += distance(item(row[i - 1]), item(row[i]));
        item(row[i]).x = at;
      }
      for (const int each : row) item(each).x -= at / 2;
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      const bool is_down = sweep % 2 == 1;  // the last one, too: then chains of boxes are straight
      for (size_t i = 0; i < rows_.size(); ++i) move(rows_[is_down ? i : rows_.size() - 1 - i], is_down);
    }
  }

  static double distance(const Item& left, const Item& right) {
    return (left.width + right.width) / 2 + (left.is_box && right.is_box ? kBoxGap : kLineGap);
  }

  // How much a connection pulls. First of all, lines that pass several rows are straight, and then chains of boxes.
  static double pull(const Item& a, const Item& b) {
    if (a.is_box != b.is_box) return 1;
    return a.is_box ? 100 : 10000;
  }

  // Finds the places in a row with the least sum of squares of the distances to where the items are pulled. What the
  // distances of neighbours need is subtracted first; then the places must not decrease. Neighbours that would are
  // merged to blocks at their mean.
  void move(const std::vector<int>& row, bool by_upper) {
    struct Block {
      double sum, weight;
      size_t count;
    };
    std::vector<Block> blocks;
    std::vector<double> offsets;
    for (size_t i = 0; i < row.size(); ++i) {
      const Item& each = item(row[i]);
      offsets.push_back(i == 0 ? 0 : offsets.back() + distance(item(row[i - 1]), each));
      double sum = 0, weight = 0;
      for (const int other : by_upper ? each.up : each.down) {
        const double by = pull(each, item(other));
        sum += by * item(other).x;
        weight += by;
      }
      if (weight == 0) {
        weight = 0.01;
        sum = weight * each.x;
      }
      blocks.push_back({sum - weight * offsets[i], weight, 1});
      while (blocks.size() > 1) {
        const Block last = blocks.back();
        Block& before = blocks[blocks.size() - 2];
        if (before.sum / before.weight <= last.sum / last.weight) break;
        before = {before.sum + last.sum, before.weight + last.weight, before.count + last.count};
        blocks.pop_back();
      }
    }
    size_t i = 0;
    for (const Block& block : blocks)
      for (size_t end = i + block.count; i < end; ++i) item(row[i]).x = block.sum / block.weight + offsets[i];
  }

  Drawing draw() const {
    double left = 0, right = 0;
    for (const Item& each : items_) {
      left = std::min(left, each.x - each.width / 2);
      right = std::max(right, each.x + each.width / 2);
    }
    std::vector<double> tops, heights;
    double y = kMargin;
    for (const std::vector<int>& row : rows_) {
      double height = 0;
      for (const int each : row)
        if (item(each).is_box) height = std::max(height, boxes_[static_cast<size_t>(each)].height);
      tops.push_back(y);
      heights.push_back(height);
      y += height + kRowGap;
    }
    const auto x_of = [&](int each) { return item(each).x - left + kMargin; };
    const auto top_of = [&](int each) { return tops[static_cast<size_t>(item(each).row)]; };
    const auto bottom_of = [&](int each) {
      return top_of(each) + heights[static_cast<size_t>(item(each).row)] + kStub;
    };
    Drawing drawing;
    for (size_t i = 0; i < boxes_.size(); ++i)
      drawing.boxes.push_back({x_of(static_cast<int>(i)) - boxes_[i].width / 2, top_of(static_cast<int>(i))});
    for (size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      LinePath& path = drawing.lines.emplace_back();
      const double x = x_of(line.from) + line.shift;
      path.points = {{x, top_of(line.from) + boxes_[static_cast<size_t>(line.from)].height}, {x, bottom_of(line.from)}};
      for (const int pass : passes_[i]) {
        path.points.push_back({x_of(pass), top_of(pass)});
        path.points.push_back({x_of(pass), bottom_of(pass)});
      }
      for (const int to : line.to) path.ends.push_back(2 * (item(to).row - item(line.from).row));
    }
    drawing.width = right - left + 2 * kMargin;
    drawing.height = y - kRowGap + kMargin;
    return drawing;
  }

  Item& item(int number) { return items_[static_cast<size_t>(number)]; }
  const Item& item(int number) const { return items_[static_cast<size_t>(number)]; }
  std::vector<int>& row_of(int number) { return rows_[static_cast<size_t>(item(number).row)]; }

  const std::span<const BoxSize> boxes_;
  const std::span<const Line> lines_;
  std::vector<Item> items_;               // the boxes, then the others
  std::vector<std::vector<int>> passes_;  // of each line, from top to bottom
  std::vector<std::vector<int>> rows_;
};

}  // namespace

Drawing lay_out(std::span<const BoxSize> boxes, std::span<const Line> lines) { return Layout(boxes, lines).run(); }

}  // namespace oneflow::draw
