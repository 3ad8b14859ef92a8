#include "contract/contract.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "contract/current_layout.h"
#include "contract/direct/strips.h"
#include "contract/gemm/gemm.h"
#include "contract/kernels.h"
#include "contract/problem.h"
#include "contract/rewrite/rearranged.h"
#include "plugin/host.h"
#include "simd/element.h"

namespace oneflow::cpu {
namespace {

// Exchanges the roles of rows and columns, and of A and B: the transpose of C = A B is C' = B' A'.
void swap_sides(Problem& problem) {
  std::swap(problem.rows, problem.columns);
  std::swap(problem.is_constant[kA], problem.is_constant[kB]);
  for (DimGroup* group : {&problem.batch, &problem.rows, &problem.columns, &problem.depth}) {
    for (int d = 0; d < group->rank; ++d) std::swap(group->dims[d].strides[kA], group->dims[d].strides[kB]);
  }
}

// Returns whether exchanging rows and columns suits the kernels, which store vectors of rows: rows should be contiguous
// in C, and enough to fill a vector.
bool should_swap(const Problem& problem) {
  constexpr int64_t kEnough = 16;
  const int64_t rows = problem.rows.count, columns = problem.columns.count;
  if (rows < kEnough && columns > rows) return true;
  if (columns < kEnough && rows > columns) return false;
  return innermost_stride(problem.columns, kC) < innermost_stride(problem.rows, kC);
}

// Assigns the descriptor's dimensions to the groups of a problem.
of_status sort_dims(const of_contraction& contraction, Problem& problem) {
  for (const int32_t count : {contraction.batch_count, contraction.m_count, contraction.n_count, contraction.k_count})
    if (count < 0 || count > OF_MAX_RANK)
      return fail(OF_INVALID_ARGUMENT, "contraction: %d dimensions in one group", count);
  const bool is_valid = for_each_dim(contraction, [&](ContractionRole role, const Dim& dim) {
    if (dim.size != 1) (problem.*kGroups[role]).add(dim);
    return dim.size >= 0;
  });
  return is_valid ? OF_OK : fail(OF_INVALID_ARGUMENT, "contraction: a size is negative");
}

// Returns the solution by the first strategy that accepts the problem. `rearrange` may copy operands into a
// better layout; it is not considered for problems that strips accept.
template <class Rearrange>
Solved solve(Problem problem, Rearrange&& rearrange) {
  canonicalize(problem);
  // Overlapping windows, of either operand, become the columns.
  if (reads_windows_in_place(problem)) return {solve_by_packing(problem), false};
  swap_sides(problem);
  if (reads_windows_in_place(problem)) return {solve_by_packing(problem), true};
  swap_sides(problem);
  const bool is_swapped = should_swap(problem);
  if (is_swapped) swap_sides(problem);
  auto solution = solve_in_strips(problem);
  if (!solution) solution = rearrange(problem);
  if (!solution) solution = solve_in_current_layout(problem);
  return {std::move(solution), is_swapped};
}

Solved solve_without_copies(const Problem& problem) {
  return solve(problem, [](const Problem&) { return nullptr; });
}

// Returns whether a solution is kept for later calls.
bool keeps(const of_contraction& contraction) {
  return contraction.struct_size >= sizeof contraction && contraction.prepared != nullptr;
}

// Prepares a descriptor for calls with any addresses: `prepared` has no solution where C is empty.
of_status prepare(const of_contraction& contraction, std::unique_ptr<Solved>& prepared) {
  if (!has_common_types(contraction) || contraction.epilogue != 0)
    return fail(OF_UNSUPPORTED, "contraction: this combination of element types is not implemented");
  Problem problem;
  problem.dtype = contraction.dtype;
  problem.alpha = contraction.alpha;
  problem.beta = contraction.beta;
  problem.has_bias = contraction.bias != nullptr;
  problem.is_constant[kA] = keeps(contraction) && (contraction.constant_operands & OF_CONSTANT_A) != 0;
  problem.is_constant[kB] = keeps(contraction) && (contraction.constant_operands & OF_CONSTANT_B) != 0;
  const of_status status = sort_dims(contraction, problem);
  if (status != OF_OK) return status;
  prepared = std::make_unique<Solved>();
  if (problem.batch.count == 0 || problem.rows.count == 0 || problem.columns.count == 0) return OF_OK;
  *prepared = solve(problem, [](const Problem& each) { return solve_rearranged(each, solve_without_copies); });
  return OF_OK;
}

of_status run(const Solved& prepared, const of_contraction& contraction) {
  if (!prepared.solution) return OF_OK;
  return prepared.run({{static_cast<const char*>(contraction.a), static_cast<const char*>(contraction.b),
                        static_cast<const char*>(contraction.c), static_cast<const char*>(contraction.bias)},
                       static_cast<char*>(contraction.c)});
}

}  // namespace

of_status contract(const of_contraction* contraction) try {
  const bool is_kept = keeps(*contraction);
  if (is_kept && *contraction->prepared != nullptr)
    return run(*static_cast<const Solved*>(*contraction->prepared), *contraction);
  std::unique_ptr<Solved> prepared;
  if (const of_status status = prepare(*contraction, prepared); status != OF_OK) return status;
  const of_status status = run(*prepared, *contraction);
  if (is_kept) *contraction->prepared = prepared.release();
  return status;
} catch (const std::bad_alloc&) {
  return fail(OF_OUT_OF_MEMORY, "contraction: no memory to prepare it");
} catch (const Interrupted&) {
  return fail_with_exception();
}

void discard_contraction(void* prepared) { delete static_cast<Solved*>(prepared); }

}  // namespace oneflow::cpu
