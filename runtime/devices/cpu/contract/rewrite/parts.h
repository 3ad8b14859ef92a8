// Contractions computed part by part: some elements of one dimension of C at a time, for copies of operands that would
// not fit into working memory as a whole.
//
// Of an operand of 20 MB, for example, the product for a tenth of the elements of a dimension needs 2 MB, which can be
// copied into a better layout, multiplied, and forgotten.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_PARTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_PARTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "contract/problem.h"

namespace oneflow::cpu {

// A dimension that is cut.
struct Cut {
  Dim dim;
  int64_t size;  // the elements of the dimension in one part
};

// The partition of a problem.
struct Parts {
  std::vector<Cut> cuts;
  double cost;  // the additional cost of a part, in nanoseconds: large operands are read in shorter runs
  Problem part;

  // Returns the size of a part relative to the whole problem.
  double share() const;
};

// Cuts dimensions of C so that a part has at most `most_bytes` bytes of the largest operand: one dimension, and if
// necessary others to single elements. Returns nothing where the operand is no larger than that as a whole, or where it
// is larger even after all its dimensions of C are cut to single elements.
std::optional<Parts> find_parts(const Problem& problem, double most_bytes);

// Returns the solution of the whole problem, given that of a part.
std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_PARTS_H_
