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
// The cost of copying an element.
constexpr double kGather = 1.4;
// The least number of times that each copied element is used.
constexpr int64_t kMinUses = 4;

// The copy of an operand with the depth innermost, and the problem that remains.
struct Copied {
  static constexpr int32_t kMostDims = OF_MAX_RANK;

  Copied(const Problem& given, Operand copied) : operand(copied), problem(given) {
    for (DimGroup* group : {&problem.depth, operand == kA ? &problem.rows : &problem.columns, &problem.batch}) {
      for (int d = group->rank - 1; d >= 0; --d) {
        int64_t& stride = group->dims[d].strides[operand];
        if (stride == 0) continue;
        sizes[--first] = group->dims[d].size;
        strides[first] = stride;
        stride = count;
        count *= group->dims[d].size;
      }
    }
    canonicalize(problem.depth, operand == kA ? kB : kA, operand);
  }

  Operand operand;
  // The sizes of the copied dimensions and their strides in the source, in the order of the copy, from `first` on.
  int32_t first = kMostDims;
  int64_t sizes[kMostDims], strides[kMostDims];
  int64_t count = 1;
  Problem problem;
};

// Copies one operand and runs the solution for the copy.
class CopiedOperand final : public Solution {
 public:
  CopiedOperand(const Copied& copied, std::unique_ptr<Solution> solution)
      : operand_(copied.operand),
        item_size_(contract_kernels(copied.problem.dtype).size),
        first_(copied.first),
        count_(copied.count),
        solution_(std::move(solution)) {
    std::copy_n(copied.sizes, Copied::kMostDims, sizes_);
    std::copy_n(copied.strides, Copied::kMostDims, strides_);
  }

  of_status run(const Addresses& addresses) const override {
    const Scratch copy(count_ * item_size_);
    if (copy.data() == nullptr) return no_working_memory();
    gather(addresses.operands[operand_], {Copied::kMostDims - first_, sizes_ + first_, strides_ + first_}, item_size_,
           0, count_, copy.data());
    Addresses with_copy = addresses;
    with_copy.operands[operand_] = static_cast<const char*>(copy.data());
    return solution_->run(with_copy);
  }

 private:
  const Operand operand_;
  const int64_t item_size_;
  const int32_t first_;
  int64_t sizes_[Copied::kMostDims], strides_[Copied::kMostDims];
  const int64_t count_;
  const std::unique_ptr<Solution> solution_;
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

}  // namespace

void offer_copy(const Work& work, Chooser& chooser) {
  const Problem& problem = work.problem;
  const bool may_be = problem.is_plain() && computes_in_itself(problem.dtype) && work.is_thin();
  const auto operand = may_be ? find_copied(problem) : std::nullopt;
  if (!operand) return;
  const Copied copied(problem, *operand);
  chooser.offer(
      [&] { return cost_by(offer_in_place, Work(copied.problem)) + kCopyOverhead + work.elements[*operand] * kGather; },
      [&]() -> std::unique_ptr<Solution> {
        auto solution = solve_by(offer_in_place, copied.problem);
        return solution ? std::make_unique<CopiedOperand>(copied, std::move(solution)) : nullptr;
      });
}

}  // namespace oneflow::cpu
