// Contractions part by part: some elements of a dimension of C at a time.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_

#include <memory>
#include <optional>

#include "contract_problem.h"

namespace oneflow::cpu {

struct Parts {
  Dim dim;       // the one that is cut
  int64_t size;  // of a part
  Problem part;

  double share() const { return static_cast<double>(size) / static_cast<double>(dim.size); }
};

// Of the largest operand the outermost dimension of C, cut so that the operand has at most so many bytes of a part;
// nothing where it has no more of the whole, or more even of one element.
std::optional<Parts> find_parts(const Problem& problem, double most_bytes);

// The whole problem by the solution of a part.
std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_
