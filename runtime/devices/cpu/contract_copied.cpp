#include "contract_copied.h"

#include <algorithm>

#include "contract_direct.h"
#include "contract_kernels.h"
#include "scratch.h"
#include "strided.h"

namespace oneflow::cpu {
namespace {

// Copies stay in the second-level cache.
constexpr int64_t kMostBytes = int64_t{1} << 20;
// How often each element that is copied is used, at least.
constexpr int64_t kUses = 4;

class CopiedOperand final : public Solution {
 public:
  // `problem` becomes the one with the copy in the place of the operand.
  CopiedOperand(Problem& problem, Operand operand, int64_t item_size) : operand_(operand), item_size_(item_size) {
    int64_t step = 1;
    for (DimGroup* group : {&problem.depth, operand == kA ? &problem.rows : &problem.columns, &problem.batch}) {
      for (int d = group->rank - 1; d >= 0; --d) {
        int64_t& stride = group->dims[d].strides[operand];
        if (stride == 0) continue;
        sizes_[--first_] = group->dims[d].size;
        strides_[first_] = stride;
        stride = step;
        step *= group->dims[d].size;
      }
    }
    count_ = step;
    const Operand other = operand == kA ? kB : kA;
    canonicalize(problem.depth, other, operand);
    rest_ = solve_directly(problem);
  }

  bool is_there() const { return rest_ != nullptr; }

  of_status run(const Addresses& addresses) const override {
    const Scratch copy(count_ * item_size_);
    if (copy.data() == nullptr) return no_working_memory();
    gather(addresses.operands[operand_], {kMostDims - first_, sizes_ + first_, strides_ + first_}, item_size_, 0,
           count_, copy.data());
    Addresses with_copy = addresses;
    with_copy.operands[operand_] = static_cast<const char*>(copy.data());
    return rest_->run(with_copy);
  }

 private:
  static constexpr int32_t kMostDims = OF_MAX_RANK;

  const Operand operand_;
  const int64_t item_size_;
  // What is copied, in the order of the copy: the last dimensions.
  int32_t first_ = kMostDims;
  int64_t sizes_[kMostDims], strides_[kMostDims];
  int64_t count_;
  std::unique_ptr<Solution> rest_;
};

bool runs_along_depth(const Problem& problem, Operand operand) {
  return problem.depth.rank > 0 && problem.depth.dims[problem.depth.rank - 1].strides[operand] == 1;
}

// Whether all dimensions lie next to each other, so that with the other operand in their order they are one.
bool is_one_run(const DimGroup& dims, Operand operand) {
  int64_t run = 1;
  int d = dims.rank - 1;
  for (; d >= 0 && dims.dims[d].strides[operand] == run; --d) run *= dims.dims[d].size;
  return d < 0;
}

}  // namespace

std::unique_ptr<Solution> solve_with_copy(const Problem& problem) {
  const int64_t item_size = contract_kernels(problem.dtype).size;
  const int64_t rows = problem.rows.count, columns = problem.columns.count;
  const Operand longer = longer_of(problem), operand = longer == kA ? kB : kA;
  const int64_t count = problem.batch.count * std::min(rows, columns) * problem.depth.count;
  if (problem.depth.count < 2 || !runs_along_depth(problem, longer) || count * item_size > kMostBytes ||
      std::max(rows, columns) < kUses)
    return nullptr;
  // Its runs may be in another order, if the longer one is one run.
  const bool is_turned = problem.depth.rank > 1 && is_one_run(problem.depth, longer);
  if (runs_along_depth(problem, operand) && !is_turned) return nullptr;
  // What is repeated along the depth stays so.
  const DimGroup& depth = problem.depth;
  if (std::any_of(depth.dims, depth.dims + depth.rank, [&](const Dim& dim) { return dim.strides[operand] == 0; }))
    return nullptr;
  if (problem.batch.rank + std::max(problem.rows.rank, problem.columns.rank) + problem.depth.rank > OF_MAX_RANK)
    return nullptr;
  Problem with_copy = problem;
  auto solution = std::make_unique<CopiedOperand>(with_copy, operand, item_size);
  return solution->is_there() ? std::move(solution) : nullptr;
}

}  // namespace oneflow::cpu
