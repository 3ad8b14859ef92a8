// A libFuzzer target for equations: every string must give a valid expression or one of the documented errors. An input
// is a line with a digit for the size of each dimension and a comma between operands, followed by the equation:
// "23,34\nij,jk->ik".
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "einsum/expression.h"

namespace {

using namespace oneflow;

constexpr size_t kMaxOperands = 12;  // limits the time of the path search

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

std::vector<Shape> shapes_of(std::string_view line) {
  std::vector<Shape> shapes(1);
  for (const char c : line) {
    if (c == ',' && shapes.size() < kMaxOperands) shapes.emplace_back();
    if (c >= '0' && c <= '9' && shapes.back().rank() < OF_MAX_RANK) shapes.back().push_back(c - '0');
  }
  return shapes;
}

void check(const einsum::Expression& expression, size_t operands) {
  const std::vector<int64_t>& path = expression.path();
  require(path.size() == 2 * (operands - 1), "a path multiplies all operands");
  for (size_t i = 0; i < path.size(); ++i) {
    const auto remaining = static_cast<int64_t>(operands - i / 2);
    require(path[i] >= 0 && path[i] < remaining, "the positions of a path are those of remaining operands");
  }
  for (const int64_t size : expression.result()) require(size >= 0 && size <= 9, "sizes are those of the operands");
  require(expression.operations() >= 0 && expression.largest() >= 0, "costs are not negative and not NaN");
  require(!expression.report().empty(), "the report is not empty");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  const size_t end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const std::vector<Shape> shapes = shapes_of(input.substr(0, end));
  try {
    check(einsum::Expression(input.substr(end + 1), shapes, {}), shapes.size());
  } catch (const Error& error) {
    require(error.status() == OF_INVALID_ARGUMENT || error.status() == OF_SHAPE_ERROR, error.what());
    require(!error.text().empty(), "an error has a text");
  }
  return 0;
}
