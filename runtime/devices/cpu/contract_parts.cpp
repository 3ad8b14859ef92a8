#include "contract_parts.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "contract_costs.h"
#include "element.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kLeastRun = 1024;

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
  const auto item = static_cast<double>(item_size(problem.dtype));
  const double bytes = elements_of(problem, largest) * item;
  if (bytes <= most_bytes) return std::nullopt;
  int cut_role = kRoles, cut = 0;
  int64_t farthest = 0;
  for (const int role : {kBatch, kRows, kColumns}) {
    const DimGroup& group = problem.*kGroups[role];
    for (int d = 0; has(largest, role) && d < group.rank; ++d) {
      const int64_t stride = std::abs(group.dims[d].strides[largest]);
      if (stride <= farthest) continue;
      farthest = stride;
      cut_role = role;
      cut = d;
    }
  }
  if (cut_role == kRoles) return std::nullopt;
  Parts parts{(problem.*kGroups[cut_role]).dims[cut], 0, problem};
  const int64_t whole = parts.dim.size;
  const auto most = static_cast<int64_t>(most_bytes / bytes * static_cast<double>(whole));
  if (most == 0) return std::nullopt;
  parts.size = divide_up(whole, divide_up(whole, most));
  // Large operands of which parts are short runs would be walked in short runs again and again.
  for (const Operand operand : {kA, kB, kC}) {
    const int64_t run = std::abs(parts.dim.strides[operand]) * parts.size;
    if (has(operand, cut_role) && run < kLeastRun && elements_of(problem, operand) * item > most_bytes)
      return std::nullopt;
  }
  DimGroup& group = parts.part.*kGroups[cut_role];
  if (parts.size > 1)
    group.resize(cut, parts.size);
  else
    take(group, cut);
  return parts;
}

std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution) {
  return std::make_unique<PartByPart>(parts, std::move(solution));
}

}  // namespace oneflow::cpu
