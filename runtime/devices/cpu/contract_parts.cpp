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
  PartByPart(const Cut& cut, int64_t item, std::unique_ptr<Solution> solution)
      : dim_(cut.dim), size_(cut.size), item_(item), solution_(std::move(solution)) {}

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

// Cuts a dimension, alone or together with others, if it is too large as a single element.
std::optional<Parts> cut(const Problem& problem, int role, int d, double most_bytes, double bytes) {
  const DimGroup& group = problem.*kGroups[role];
  const Dim& dim = group.dims[d];
  const auto most = static_cast<int64_t>(most_bytes / bytes * static_cast<double>(dim.size));
  const int64_t size = most == 0 ? 1 : divide_up(dim.size, divide_up(dim.size, most));
  Parts parts{{{dim, size}}, cost_of_runs(problem, dim, size, most_bytes), problem};
  DimGroup& part = parts.part.*kGroups[role];
  if (size > 1)
    part.resize(d, size);
  else
    take(part, d);
  if (most > 0) return parts;
  auto rest = find_parts(parts.part, most_bytes);
  if (!rest) return std::nullopt;
  rest->cost += parts.cost * rest->share();
  rest->cuts.insert(rest->cuts.begin(), parts.cuts[0]);
  return rest;
}

}  // namespace

double Parts::share() const {
  double share = 1;
  for (const Cut& cut : cuts) share *= static_cast<double>(cut.size) / static_cast<double>(cut.dim.size);
  return share;
}

std::optional<Parts> find_parts(const Problem& problem, double most_bytes) {
  Operand largest = kA;
  for (const Operand operand : {kB, kC})
    if (elements_of(problem, operand) > elements_of(problem, largest)) largest = operand;
  const double bytes = bytes_of(problem, largest);
  if (bytes <= most_bytes) return std::nullopt;
  std::optional<Parts> best;
  for (const int role : {kBatch, kRows, kColumns}) {
    for (int d = 0; has(largest, role) && d < (problem.*kGroups[role]).rank; ++d) {
      auto parts = cut(problem, role, d, most_bytes, bytes);
      if (parts && (!best || parts->cost * best->share() < best->cost * parts->share())) best = std::move(parts);
    }
  }
  return best;
}

std::unique_ptr<Solution> solve_parts(const Parts& parts, std::unique_ptr<Solution> solution) {
  const int64_t item = item_size(parts.part.dtype);
  for (size_t i = parts.cuts.size(); i-- > 0;)
    solution = std::make_unique<PartByPart>(parts.cuts[i], item, std::move(solution));
  return solution;
}

}  // namespace oneflow::cpu
