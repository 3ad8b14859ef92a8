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
  double cost;   // in nanoseconds, of a part: what walking large operands in shorter runs takes
  Problem part;

  double share() const { return static_cast<double>(size) / static_cast<double>(dim.size); }
};

// Cuts a dimension of C that the largest operand has so that it has at most so many bytes of a part; nothing where it
// has no more of the whole, or more even of one element.
std::optional<Parts> find_parts(const Problem& problem, double most_bytes);

// The whole problem by the solution of a part.
std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_PARTS_H_
