// Equations: from text, or from a rule, to numbered labels. No text is looked at behind this point.
#ifndef ONEFLOW_EINSUM_EQUATION_H_
#define ONEFLOW_EINSUM_EQUATION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"

namespace oneflow::einsum {

// One number per dimension. An equation's labels count up from 0.
using Labels = std::vector<int>;

// Where each dimension's label stands in the equation's text, in bytes.
using Places = std::vector<size_t>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
  std::vector<std::string> names;    // of the labels, as error texts say them: "label 'j'"
  std::vector<std::string> symbols;  // the same as equations are written: "j"; "..." for a dimension of the ellipsis
  std::vector<bool> broadcasts;      // whether a size of 1 of this label stretches
  // What the user wrote, for errors that point at it; empty where the user wrote no equation.
  std::string text;
  std::vector<Places> places;  // of each operand's labels in it
};

// A label as it is written: a letter, as its code point, or a number in brackets, counted from kNumber on.
using Symbol = int64_t;
inline constexpr Symbol kNumber = Symbol{1} << 32;

// One operand's or the result's part of an equation.
struct Term {
  std::vector<Symbol> symbols;
  Places places;      // of the symbols
  size_t begin, end;  // of the term in the text
  int ellipsis = -1;  // how many of the symbols stand before it; -1: there is none
  size_t ellipsis_place = 0;

  int rank() const { return static_cast<int>(symbols.size()); }
  bool has_ellipsis() const { return ellipsis >= 0; }
};

// What an equation's text says before the operands are known.
struct ParsedEquation {
  std::string text;
  std::vector<Term> operands;
  Term output;
  bool has_output = false;  // whether there is a `->`
};

// Reads
//   equation = term {"," term} ["->" term]
//   term     = {letter | "..." | "[" [member {"," member}] "]"}      with at most one ellipsis
//   member   = natural number | "..."
// where a letter is what is_label() says, and spaces mean nothing. InvalidArgument with what is wrong and where.
ParsedEquation parse_equation(std::string_view text);

// Gives the ellipses their dimensions, finds the implicit output, and numbers the labels. Every label broadcasts.
// InvalidArgument for an output that does not fit the operands, ShapeError for an operand of the wrong rank.
Equation resolve_equation(const ParsedEquation& parsed, std::span<const int> ranks);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EQUATION_H_
