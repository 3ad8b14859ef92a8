#include "contract_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "contract_costs.h"
#include "element.h"

namespace oneflow::cpu {
namespace {

// What a run of a large operand takes that is not a whole page, as those are far apart, in nanoseconds.
constexpr double kShortRun = 20;
constexpr int64_t kPageElements = 1024;

double bytes_of(const Problem& problem, Operand operand) {
  return elements_of(problem, operand) * static_cast<double>(item_size(problem.dtype));
}

// What the runs take that large operands have of a part of so many elements of a dimension.
double cost_of_runs(const Problem& problem, const Dim& dim, int64_t size, double most_bytes) {
  double cost = 0;
  for (const Operand operand : {kA, kB, kC}) {
    const int64_t run = std::abs(dim.strides[operand]) * size;
    if (run == 0 || run >= kPageElements || bytes_of(problem, operand) <= most_bytes) continue;
    const double share = static_cast<double>(size) / static_cast<double>(dim.size);
    cost += elements_of(problem, operand) * share / static_cast<double>(run) * kShortRun;
  }
  return cost;
}

// The last part has elements of the one before it again where there are not enough.
class PartByPart final : public Solution {
 public:
  PartByPart(const Parts& parts, std::unique_ptr<Solution> solution)
      : dim_(parts.dim), size_(parts.size), item_(item_size(parts.part.dtype)), solution_(std::move(solution)) {}

  of_status run(const Addresses& addresses) const override {
    for (int64_t done = 0; done < dim_.size; done += size_) {
      const int64_t begin = std::min(done, dim_.size - size_) * item_;
      Addresses part = addresses;
      part.operands[kA] += begin * dim_.strides[kA];
      part.operands[kB] += begin * dim_.strides[kB];
      part.c += begin * dim_.strides[kC];
      if (const of_status status = solution_->run(part); status != OF_OK) return status;
    }
    return OF_OK;
  }

 private:
  const Dim dim_;
  const int64_t size_, item_;
  const std::unique_ptr<Solution> solution_;
};

}  // namespace

std::optional<Parts> find_parts(const Problem& problem, double most_bytes) {
  Operand largest = kA;
  for (const Operand operand : {kB, kC})
    if (elements_of(problem, operand) > elements_of(problem, largest)) largest = operand;
  const double share = most_bytes / bytes_of(problem, largest);
  if (share >= 1) return std::nullopt;
  int cut_role = kRoles, cut = 0;
  int64_t cut_size = 0;
  double least = INFINITY;
  for (const int role : {kBatch, kRows, kColumns}) {
    const DimGroup& group = problem.*kGroups[role];
    for (int d = 0; has(largest, role) && d < group.rank; ++d) {
      const Dim& dim = group.dims[d];
      const auto most = static_cast<int64_t>(share * static_cast<double>(dim.size));
      if (most == 0) continue;
      const int64_t size = divide_up(dim.size, divide_up(dim.size, most));
      const double cost = cost_of_runs(problem, dim, size, most_bytes) / static_cast<double>(size);
      if (cost >= least) continue;
      least = cost;
      cut_role = role;
      cut = d;
      cut_size = size;
    }
  }
  if (cut_role == kRoles) return std::nullopt;
  Parts parts{(problem.*kGroups[cut_role]).dims[cut], cut_size, least * static_cast<double>(cut_size), problem};
  DimGroup& group = parts.part.*kGroups[cut_role];
  if (cut_size > 1)
    group.resize(cut, cut_size);
  else
    take(group, cut);
  return parts;
}

std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution) {
  return std::make_unique<PartByPart>(parts, std::move(solution));
}

}  // namespace oneflow::cpu
