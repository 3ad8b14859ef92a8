// Equations: from text, or from a rule, to numbered labels. No text is looked at behind this point.
#ifndef ONEFLOW_EINSUM_EQUATION_H_
#define ONEFLOW_EINSUM_EQUATION_H_

#include <bitset>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"

namespace oneflow::einsum {

// One number per dimension.
using Labels = std::vector<int>;

// An equation has at most this many labels: the letters, and the dimensions that an ellipsis stands for.
inline constexpr int kMaxLabels = 128;
using LabelSet = std::bitset<kMaxLabels>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
  std::vector<std::string> names;  // of the labels, as error texts say them: "label 'j'"
  std::vector<bool> broadcasts;    // whether a size of 1 of this label stretches
};

// One operand's or the result's part of an equation as it is written.
struct Term {
  std::string text;  // without spaces
  int letters_before = 0, letters_after = 0;
  bool has_ellipsis = false;

  int letters() const { return letters_before + letters_after; }
};

// What an equation's text says before the operands are known.
struct ParsedEquation {
  std::vector<Term> operands;
  Term output;
  bool has_output = false;  // whether there is a `->`
};

// InvalidArgument with what is wrong and where.
ParsedEquation parse_equation(std::string_view text);

// Gives the ellipses their dimensions, finds the implicit output, and numbers the labels. Every label broadcasts.
// InvalidArgument for an output that does not fit the operands, ShapeError for an operand of the wrong rank.
Equation resolve_equation(const ParsedEquation& parsed, std::span<const int> ranks);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EQUATION_H_
