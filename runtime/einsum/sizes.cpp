#include "einsum/sizes.h"

#include <algorithm>

#include "base/error.h"
#include "einsum/equation_text.h"

namespace oneflow::einsum {

namespace {

// An occurrence of a label, and its size there.
struct Found {
  size_t operand, dim;
  int64_t size;
};

[[noreturn]] void fail_sizes(const Equation& equation, int label, Found a, Found b, std::span<const Sizes> shapes,
                             OperandNames names) {
  const std::string& name = equation.names[static_cast<size_t>(label)];
  if (names.empty()) {
    const std::string message =
        a.operand == b.operand
            ? format_text("%s is %ld and %ld in operand %zu", name.c_str(), static_cast<long>(a.size),
                          static_cast<long>(b.size), a.operand)
            : format_text("%s is %ld in operand %zu and %ld in operand %zu", name.c_str(), static_cast<long>(a.size),
                          a.operand, static_cast<long>(b.size), b.operand);
    fail_at(OF_SHAPE_ERROR, equation.text, equation.offsets[b.operand][b.dim], message);
  }
  const bool is_contracted = std::find(equation.output.begin(), equation.output.end(), label) == equation.output.end();
  const char* rule = is_contracted                                     ? "are contracted"
                     : equation.broadcasts[static_cast<size_t>(label)] ? "do not broadcast"
                                                                       : "must be equal";
  fail(OF_SHAPE_ERROR, "%s of shape %s and %s of shape %s do not fit: sizes %ld and %ld %s", names[a.operand].c_str(),
       to_text(shapes[a.operand]).c_str(), names[b.operand].c_str(), to_text(shapes[b.operand]).c_str(),
       static_cast<long>(a.size), static_cast<long>(b.size), rule);
}

}  // namespace

std::vector<int64_t> label_sizes(const Equation& equation, std::span<const Sizes> shapes, OperandNames names) {
  constexpr Found kNowhere{0, 0, -1};
  std::vector<Found> found(equation.names.size(), kNowhere);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Labels& labels = equation.operands[i];
    for (size_t d = 0; d < labels.size(); ++d) {
      const Found here{i, d, shapes[i][d]};
      // A repeated label in one operand is a diagonal, which does not broadcast.
      const auto first = static_cast<size_t>(std::find(labels.begin(), labels.end(), labels[d]) - labels.begin());
      if (shapes[i][first] != here.size)
        fail_sizes(equation, labels[d], {i, first, shapes[i][first]}, here, shapes, names);
      Found& known = found[static_cast<size_t>(labels[d])];
      const bool may_broadcast = equation.broadcasts[static_cast<size_t>(labels[d])];
      if (known.size < 0 || (may_broadcast && known.size == 1)) {
        known = here;
      } else if (known.size != here.size && !(may_broadcast && here.size == 1)) {
        fail_sizes(equation, labels[d], known, here, shapes, names);
      }
    }
  }
  std::vector<int64_t> sizes;
  for (const Found& label : found) sizes.push_back(label.size);
  return sizes;
}

}  // namespace oneflow::einsum
