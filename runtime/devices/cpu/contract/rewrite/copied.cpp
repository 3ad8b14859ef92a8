#include "contract/rewrite/copied.h"

#include <algorithm>
#include <optional>

#include "contract/direct/direct.h"
#include "contract/kernels.h"
#include "copy/strided.h"
#include "simd/cache_sizes.h"
#include "threads/scratch.h"

namespace oneflow::cpu {
namespace {

// Copies stay in the second-level cache.
constexpr int64_t kMostBytes = kL2Bytes;
// The least number of times that each copied element is used.
constexpr int64_t kMinUses = 4;

// Copies one operand, with the depth innermost, and runs the solution for the copy.
class CopiedOperand final : public Solution {
 public:
  // Changes `problem` to the one whose operand is the copy.
  CopiedOperand(Problem& problem, Operand operand, int64_t item_size) : operand_(operand), item_size_(item_size) {
    int64_t next_stride = 1;
    for (DimGroup* group : {&problem.depth, operand == kA ? &problem.rows : &problem.columns, &problem.batch}) {
      for (int d = group->rank - 1; d >= 0; --d) {
        int64_t& stride = group->dims[d].strides[operand];
        if (stride == 0) continue;
        sizes_[--first_] = group->dims[d].size;
        strides_[first_] = stride;
        stride = next_stride;
        next_stride *= group->dims[d].size;
      }
    }
    count_ = next_stride;
    const Operand other = operand == kA ? kB : kA;
    canonicalize(problem.depth, other, operand);
    solution_ = solve_by(offer_directly, problem);
  }

  bool has_solution() const { return solution_ != nullptr; }

  of_status run(const Addresses& addresses) const override {
    const Scratch copy(count_ * item_size_);
    if (copy.data() == nullptr) return no_working_memory();
    gather(addresses.operands[operand_], {kMostDims - first_, sizes_ + first_, strides_ + first_}, item_size_, 0,
           count_, copy.data());
    Addresses with_copy = addresses;
    with_copy.operands[operand_] = static_cast<const char*>(copy.data());
    return solution_->run(with_copy);
  }

 private:
  static constexpr int32_t kMostDims = OF_MAX_RANK;

  const Operand operand_;
  const int64_t item_size_;
  // The sizes of the copied dimensions and their strides in the source, in the order of the copy, from `first_` on.
  int32_t first_ = kMostDims;
  int64_t sizes_[kMostDims], strides_[kMostDims];
  int64_t count_;
  std::unique_ptr<Solution> solution_;
};

bool is_contiguous_along_depth(const Problem& problem, Operand operand) {
  return problem.depth.rank > 0 && problem.depth.dims[problem.depth.rank - 1].strides[operand] == 1;
}

// Returns whether all dimensions are contiguous together, so that they are one where the other operand has their order.
bool is_one_run(const DimGroup& dims, Operand operand) { return contiguous_count(dims, operand) == dims.count; }

// Returns the operand to copy; none where no copy helps, or the operand is too large or used too few times.
std::optional<Operand> find_copied(const Problem& problem) {
  const int64_t rows = problem.rows.count, columns = problem.columns.count;
  const Operand longer = longer_operand(problem), operand = longer == kA ? kB : kA;
  const int64_t count = problem.batch.count * std::min(rows, columns) * problem.depth.count;
  if (problem.depth.count < 2 || !is_contiguous_along_depth(problem, longer) ||
      count * contract_kernels(problem.dtype).size > kMostBytes || std::max(rows, columns) < kMinUses)
    return std::nullopt;
  // A contiguous operand is copied only where its depth has another order, in which the longer operand is contiguous.
  const bool is_reordered = problem.depth.rank > 1 && is_one_run(problem.depth, longer);
  if (is_contiguous_along_depth(problem, operand) && !is_reordered) return std::nullopt;
  // An operand that is broadcast along a dimension of the depth is not expanded.
  const DimGroup& depth = problem.depth;
  if (std::any_of(depth.dims, depth.dims + depth.rank, [&](const Dim& dim) { return dim.strides[operand] == 0; }))
    return std::nullopt;
  if (problem.batch.rank + std::max(problem.rows.rank, problem.columns.rank) + problem.depth.rank > OF_MAX_RANK)
    return std::nullopt;
  return operand;
}

std::unique_ptr<Solution> solve_with_copy(const Problem& problem, Operand operand) {
  Problem with_copy = problem;
  auto solution = std::make_unique<CopiedOperand>(with_copy, operand, contract_kernels(problem.dtype).size);
  return solution->has_solution() ? std::move(solution) : nullptr;
}

}  // namespace

void offer_copy(const Work& work, Chooser& chooser) {
  const Problem& problem = work.problem;
  const auto operand = work.is_thin() ? find_copied(problem) : std::nullopt;
  if (!operand) return;
  chooser.offer(
      [&] {
        if (!is_one_run(problem.depth, longer_operand(problem))) return kNotEstimated;
        return work.along(kDepth, problem.depth.count) + kCopyOverhead + work.elements[*operand];
      },
      [&] { return solve_with_copy(problem, *operand); });
}

}  // namespace oneflow::cpu
