#include "contract/rewrite/parts.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "simd/element.h"
#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// The cost of a contiguous run of a large operand that is shorter than a memory page, in nanoseconds.
constexpr double kShortRun = 20;
constexpr int64_t kPageElements = 1024;

double bytes_of(const Problem& problem, Operand operand) {
  return elements_of(problem, operand) * static_cast<double>(item_size(problem.dtype));
}

// Returns the cost of the short runs of large operands in a part with `size` elements of a dimension.
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

// Runs the solution of a part for each part along one dimension. All parts have the same size: where the size of the
// dimension is not a multiple of it, the last part computes some elements of the one before again.
class PartByPart final : public Solution {
 public:
  PartByPart(const Cut& cut, int64_t item, std::unique_ptr<Solution> solution)
      : dim_(cut.dim), size_(cut.size), element_size_(item), solution_(std::move(solution)) {}

  of_status run(const Addresses& addresses) const override {
    for (int64_t done = 0; done < dim_.size; done += size_) {
      const int64_t begin = std::min(done, dim_.size - size_) * element_size_;
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
  const int64_t size_, element_size_;
  const std::unique_ptr<Solution> solution_;
};

// Cuts a dimension into parts of at most `most` elements, or of single elements where `most` is 0.
Parts cut(const Problem& problem, int role, int d, int64_t most, double most_bytes) {
  const Dim& dim = (problem.*kGroups[role]).dims[d];
  const int64_t size = most == 0 ? 1 : divide_up(dim.size, divide_up(dim.size, most));
  Parts parts{{{dim, size}}, cost_of_runs(problem, dim, size, most_bytes), problem};
  DimGroup& part = parts.part.*kGroups[role];
  if (size > 1)
    part.resize(d, size);
  else
    take(part, d);
  return parts;
}

// Keeps the partition with the lower cost for the whole problem, of equal costs the one with larger parts.
void keep_cheaper(std::optional<Parts>& best, Parts parts) {
  const auto whole = [](const Parts& each) { return std::pair(each.cost / each.share(), -each.share()); };
  if (!best || whole(parts) < whole(*best)) best = std::move(parts);
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
  // Of the dimensions whose single elements are still too large, only the cheapest is cut together with others: trying
  // all orders of the dimensions would take too long.
  std::optional<Parts> best, single;
  for (const int role : {kBatch, kRows, kColumns}) {
    const DimGroup& group = problem.*kGroups[role];
    for (int d = 0; has(largest, role) && d < group.rank; ++d) {
      const auto most = static_cast<int64_t>(most_bytes / bytes * static_cast<double>(group.dims[d].size));
      keep_cheaper(most > 0 ? best : single, cut(problem, role, d, most, most_bytes));
    }
  }
  auto rest = single ? find_parts(single->part, most_bytes) : std::nullopt;
  if (rest) {
    rest->cost += single->cost * rest->share();
    rest->cuts.insert(rest->cuts.begin(), single->cuts.front());
    keep_cheaper(best, std::move(*rest));
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
