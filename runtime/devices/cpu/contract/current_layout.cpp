#include "contract/current_layout.h"

#include <algorithm>

#include "contract/direct/direct.h"
#include "contract/gemm/gemm.h"
#include "contract/gemm/side.h"
#include "contract/kernels.h"
#include "contract/rewrite/converted.h"
#include "simd/element.h"
#include "simd/non_temporal.h"

namespace oneflow::cpu {
namespace {

// Chooses the order in which packing reads the rows (or columns), which have the order of C so far. Where neither the
// innermost rows nor the depth are contiguous in the operand, packing would use one element of each cache line it
// reads. Then the rows are either packed transposed (see order_for_transposing()) or, where the strided reads touch
// more cache lines than scattered stores to C would and C stays in the caches until its cache lines are complete, take
// the order of the operand. `others` are the rows or columns of the other operand. Returns whether they are packed
// transposed.
bool order_for_packing(const Problem& problem, DimGroup& side, Operand operand, const DimGroup& others) {
  const bool should_follow = problem.depth.count > 2 * others.count && innermost_stride(problem.depth, operand) != 1;
  const int64_t c_count = problem.batch.count * side.count * others.count;
  const bool may_scatter = c_count <= non_temporal_tile_bytes() / item_size(problem.dtype);
  if (!(should_follow && may_scatter) && computes_in_itself(problem.dtype) &&
      order_for_transposing(side, operand, problem.depth))
    return true;
  if (should_follow) canonicalize(side, operand, kC);
  return false;
}

}  // namespace

double cost_in_current_layout(const Problem& problem) {
  const Work work(problem);
  return std::min(cost_by(offer_directly, work), cost_by_packing(work));
}

std::unique_ptr<Solution> solve_in_current_layout(const Problem& problem) {
  if (auto solution = solve_by(offer_directly, problem)) return solution;
  if (auto solution = solve_by(offer_converted, problem)) return solution;
  Problem ordered = problem;
  ordered.rows_are_transposed = order_for_packing(ordered, ordered.rows, kA, ordered.columns);
  ordered.columns_are_transposed = order_for_packing(ordered, ordered.columns, kB, ordered.rows);
  return solve_by_packing(ordered);
}

}  // namespace oneflow::cpu
