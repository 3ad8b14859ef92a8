// Contractions part by part: some elements of dimensions of C at a time.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "contract_problem.h"

namespace oneflow::cpu {

struct Cut {
  Dim dim;
  int64_t size;  // of a part
};

struct Parts {
  std::vector<Cut> cuts;
  double cost;  // in nanoseconds, of a part: what walking large operands in shorter runs takes
  Problem part;

  double share() const;
};

// Cuts dimensions of C that the largest operand has so that it has at most so many bytes of a part: one, and if need be
// others to single elements. Nothing where it has no more of the whole, or more even of one element of each.
std::optional<Parts> find_parts(const Problem& problem, double most_bytes);

// The whole problem by the solution of a part.
std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_
