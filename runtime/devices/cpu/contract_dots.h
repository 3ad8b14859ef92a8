// Contractions element of C by element of C: sums of the products of two lines.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DOTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DOTS_H_

#include <memory>
#include <optional>

#include "contract_problem.h"

namespace oneflow::cpu {

// Elements of one piece of a long sum; the pieces are added up in order.
constexpr int64_t kDotPiece = int64_t{1} << 15;

// The depth is one dimension, whose elements lie next to each other in A and B.
std::unique_ptr<Solution> make_dots(const Problem& problem);

// The same of several sums whose elements lie in turns: a short dimension of C is innermost in one operand, or in both.
// Nothing where there is none.
struct Interleaved {
  Problem others;  // without it
  Dim dim;
};
std::optional<Interleaved> find_interleaved(const Problem& problem);
std::unique_ptr<Solution> make_interleaved_dots(const Interleaved& interleaved);

// Pairs of neighbours, all of either operand with all of the other, along one dimension where they follow each other:
// the parts of complex numbers. NULL where the problem is not of that kind, or uses lines more often than reading them
// costs.
std::unique_ptr<Solution> make_pair_dots(const Problem& problem);

// Any depth and storage type; for a few rows and columns.
std::unique_ptr<Solution> make_copied_dots(const Problem& problem);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DOTS_H_
