// Equations with numbered labels, and their parser. All further planning uses numbers, not the string.
#ifndef ONEFLOW_EINSUM_EQUATION_H_
#define ONEFLOW_EINSUM_EQUATION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"

namespace oneflow::einsum {

// The label of each dimension. The labels of an equation are numbered from 0.
using Labels = std::vector<int>;

// The byte offset of each dimension's label in the equation string.
using Offsets = std::vector<size_t>;

// An equation for operands of known ranks.
struct Equation {
  std::vector<Labels> operands;
  Labels output;
  std::vector<std::string> names;    // of each label for error texts: "label 'j'"
  std::vector<std::string> symbols;  // of each label as written: "j"; "..." for a dimension of the ellipsis
  std::vector<bool> broadcasts;      // for each label, whether dimensions of size 1 broadcast
  std::string text;                  // what the user wrote, for error texts; empty for equations of rules
  std::vector<Offsets> offsets;      // of each operand's labels in `text`
};

// A label as written: the code point of a letter, or kNumber plus a number in brackets.
using Symbol = int64_t;
inline constexpr Symbol kNumber = Symbol{1} << 32;

// The part of an equation for one operand or for the result.
struct Term {
  std::vector<Symbol> symbols;
  Offsets offsets;    // of the symbols
  size_t begin, end;  // of the term in the equation string
  int ellipsis = -1;  // the number of symbols before the ellipsis; -1 without one
  size_t ellipsis_offset = 0;

  int rank() const { return static_cast<int>(symbols.size()); }
  bool has_ellipsis() const { return ellipsis >= 0; }
};

// An equation before the ranks of the operands are known.
struct ParsedEquation {
  std::string text;
  std::vector<Term> operands;
  Term output;
  bool has_output = false;  // whether there is a `->`
};

// Parses an equation of the grammar
//   equation = term {"," term} ["->" term]
//   term     = {letter | "..." | "[" [item {"," item}] "]"}      with at most one ellipsis
//   item     = non-negative integer | "..."
// Letters are the characters that is_label() accepts; spaces are ignored. Throws InvalidArgument with a text that shows
// the position of the error.
ParsedEquation parse_equation(std::string_view text);

// Expands the ellipses for operands of the given ranks, infers an implicit output, and numbers the labels. Every label
// broadcasts. Throws InvalidArgument for an output that does not fit the operands, ShapeError for an operand of the
// wrong rank.
Equation resolve_equation(const ParsedEquation& parsed, std::span<const int> ranks);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EQUATION_H_
