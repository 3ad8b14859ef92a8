// Integers that follow from sizes: the sizes of values, and arguments of calls, in a graph whose inputs vary in size.
#ifndef ONEFLOW_GRAPH_SIZE_EXPRESSION_H_
#define ONEFLOW_GRAPH_SIZE_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oneflow::graph {

// The number of a value in its graph.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

// A size that expressions refer to: that of a dimension of a value or, with kNoValue, a named size.
struct Atom {
  ValueId value;
  int32_t number;  // of the dimension, or of the named size

  friend bool operator==(const Atom&, const Atom&) = default;
};

// A product of sizes.
struct Term {
  int64_t factor;
  std::vector<Atom> atoms;

  friend bool operator==(const Term&, const Term&) = default;
};

// The floor of (constant + the sum of the terms) / divisor, where the divisor is positive.
struct SizeExpression {
  int64_t constant = 0;
  std::vector<Term> terms = {};
  int64_t divisor = 1;

  bool is_constant() const { return terms.empty(); }
  friend bool operator==(const SizeExpression&, const SizeExpression&) = default;
};

// Returns the value of an expression; size_of(atom) returns that of an atom. Throws ShapeError if it overflows int64.
template <class SizeOf>
int64_t evaluate(const SizeExpression& expression, SizeOf&& size_of);

// A size in several runs of a program, for sizes that vary.
struct SampledSize {
  Atom atom;
  std::vector<int64_t> samples;  // one per run
};

// Returns an expression over `sizes`, of which those at the front are preferred, that has the given values in all runs;
// none if there is none of the forms that programs use: a linear expression of one or two sizes, a product of up to
// three sizes, and the floor of a quotient of these.
std::optional<SizeExpression> fit(std::span<const int64_t> samples, std::span<const SampledSize> sizes);

// Throws ShapeError: an expression overflows int64.
[[noreturn]] void fail_overflow();
// Returns floor(dividend / divisor) for a positive divisor.
constexpr int64_t floor_quotient(int64_t dividend, int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

template <class SizeOf>
int64_t evaluate(const SizeExpression& expression, SizeOf&& size_of) {
  int64_t sum = expression.constant;
  for (const Term& term : expression.terms) {
    int64_t product = term.factor;
    for (const Atom& atom : term.atoms)
      if (__builtin_mul_overflow(product, static_cast<int64_t>(size_of(atom)), &product)) fail_overflow();
    if (__builtin_add_overflow(sum, product, &sum)) fail_overflow();
  }
  return expression.divisor == 1 ? sum : floor_quotient(sum, expression.divisor);
}

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SIZE_EXPRESSION_H_
