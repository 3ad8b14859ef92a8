// Reads the text of a picture: finds lines of text, turns those that are upside down, and reads each.
//
// Usage: ocr FOLDER PICTURE. FOLDER has what convert.py writes; PICTURE is a bitmap (PBM, P4), whose sizes are
// multiples of 32. This folder has the same program in Python, JavaScript and Ruby.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <oneflow/session.hpp>
#include <string>
#include <vector>

namespace flow = oneflow;

constexpr int64_t kHeight = 48, kTurnerWidth = 192;

struct Box {
  int64_t left, top, right, bottom;

  int64_t width() const { return right - left; }
  int64_t height() const { return bottom - top; }
};

// Returns a picture of shape (1, 3, height, width), with 1 for white and -1 for black.
static flow::Tensor read_bitmap(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string kind;
  int64_t width = 0, height = 0;
  file >> kind >> width >> height;
  file.get();
  const std::vector<char> bits{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> pixels(static_cast<size_t>(width * height));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = bits.at(i / 8) >> (7 - i % 8) & 1 ? -1.0f : 1.0f;
  return flow::Tensor::copy_of(pixels, {1, 1, height, width}).expand({1, 3, height, width});
}

// Removes a connected part of a mask, and returns its box.
static Box take_component(std::vector<bool>& mask, int64_t width, int64_t x, int64_t y) {
  const int64_t height = static_cast<int64_t>(mask.size()) / width;
  Box box{x, y, x, y};
  std::vector<std::pair<int64_t, int64_t>> waiting{{x, y}};
  while (!waiting.empty()) {
    const auto [column, row] = waiting.back();
    waiting.pop_back();
    if (column < 0 || column >= width || row < 0 || row >= height) continue;
    const auto place = static_cast<size_t>(row * width + column);
    if (!mask[place]) continue;
    mask[place] = false;
    box = {std::min(box.left, column), std::min(box.top, row), std::max(box.right, column), std::max(box.bottom, row)};
    for (const auto& [i, j] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) waiting.emplace_back(column + i, row + j);
  }
  return {box.left, box.top, box.right + 1, box.bottom + 1};
}

// Returns the part of a picture, or of marks, in a box.
static flow::Tensor crop(const flow::Tensor& picture, const Box& box) {
  return picture.at({flow::ellipsis, flow::Slice{box.top, box.bottom}, flow::Slice{box.left, box.right}});
}

// Returns the boxes of the lines of text. The detector marks their middles, so that boxes grow.
static std::vector<Box> find_lines(const flow::Session& detector, const flow::Tensor& picture) {
  const int64_t height = picture.size(2), width = picture.size(3);
  const flow::Tensor marks = detector.run({picture})[0].reshape({height, width});
  std::vector<bool> mask;
  for (const float mark : marks.to_vector<float>()) mask.push_back(mark > 0.3f);
  std::vector<Box> boxes;
  for (int64_t place = 0; place < height * width; ++place) {
    if (!mask[static_cast<size_t>(place)]) continue;
    const Box box = take_component(mask, width, place % width, place / width);
    const int64_t columns = box.width(), rows = box.height();
    if (std::min(columns, rows) < 3 || crop(marks, box).mean().item<double>() < 0.5) continue;
    const int64_t margin = 4 * columns * rows / (5 * (columns + rows));
    boxes.push_back({std::max<int64_t>(box.left - margin, 0), std::max<int64_t>(box.top - margin, 0),
                     std::min(box.right + margin, width), std::min(box.bottom + margin, height)});
  }
  return boxes;
}

// Returns the width of a line that is scaled to kHeight.
static int64_t width_of(const flow::Tensor& line) { return (kHeight * line.size(3) + line.size(2) - 1) / line.size(2); }

static flow::Tensor scale(const flow::Tensor& line, int64_t width) {
  return flow::interpolate(line, {kHeight, width}, std::nullopt, "bilinear");
}

// Returns whether a line is turned by 180 degrees.
static bool is_upside_down(const flow::Session& turner, const flow::Tensor& line) {
  const int64_t width = std::min(width_of(line), kTurnerWidth);
  const flow::Tensor strip = flow::pad(scale(line, width), {0, kTurnerWidth - width});
  return turner.run({strip})[0].at({0, 1}).item<double>() > 0.9;
}

// Returns the text of a line: at each position the most probable character, or none.
static std::string read_line(const flow::Session& reader, const std::vector<std::string>& characters,
                             const flow::Tensor& line) {
  const flow::Tensor best = reader.run({scale(line, width_of(line))})[0].at({0}).argmax(1);
  std::string text;
  int64_t before = 0;
  for (const int64_t number : best.to_vector<int64_t>()) {
    if (number != before && number != 0) text += characters.at(static_cast<size_t>(number - 1));
    before = number;
  }
  return text;
}

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: ocr FOLDER PICTURE\n";
    return 2;
  }
  try {
    const std::string folder = arguments[1];
    const flow::Session detector(folder + "/detector.flow"), turner(folder + "/turner.flow"),
        reader(folder + "/reader.flow");
    std::vector<std::string> characters;
    std::ifstream lines(folder + "/characters.txt");
    for (std::string line; std::getline(lines, line);) characters.push_back(line);
    const flow::Tensor picture = read_bitmap(arguments[2]);
    for (const Box& box : find_lines(detector, picture)) {
      flow::Tensor line = crop(picture, box);
      if (is_upside_down(turner, line)) line = line.flip({2, 3});
      std::cout << box.left << "," << box.top << " " << box.right << "," << box.bottom << " "
                << read_line(reader, characters, line) << "\n";
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
