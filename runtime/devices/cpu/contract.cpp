#include "contract.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "contract_converted.h"
#include "contract_direct.h"
#include "contract_gemm.h"
#include "contract_kernels.h"
#include "contract_problem.h"
#include "contract_rearranged.h"
#include "contract_side.h"
#include "contract_strips.h"
#include "element.h"
#include "host.h"
#include "stream.h"

namespace oneflow::cpu {
namespace {

// Exchanges the roles of rows and columns: C' = B' A'.
void swap_sides(Problem& problem) {
  std::swap(problem.rows, problem.columns);
  for (DimGroup* group : {&problem.batch, &problem.rows, &problem.columns, &problem.depth}) {
    for (int d = 0; d < group->rank; ++d) std::swap(group->dims[d].strides[kA], group->dims[d].strides[kB]);
  }
}

int64_t innermost_step(const DimGroup& group, Operand operand) {
  return group.rank == 0 ? INT64_MAX : std::abs(group.dims[group.rank - 1].strides[operand]);
}

// Kernels store whole vectors along rows: these should be next to each other in C, and there should be enough of them
// to fill a vector.
bool should_swap(const Problem& problem) {
  constexpr int64_t kEnough = 16;
  const int64_t rows = problem.rows.count, columns = problem.columns.count;
  if (rows < kEnough && columns > rows) return true;
  if (columns < kEnough && rows > columns) return false;
  return innermost_step(problem.columns, kC) < innermost_step(problem.rows, kC);
}

// Integers wrap around, so that every integer type of at least their size gives the same result.
bool accepts(const of_contraction& c) {
  switch (c.dtype) {
    case OF_BOOL:
    case OF_FLOAT32:
    case OF_FLOAT64:
      return c.compute == c.dtype;
    case OF_FLOAT16:
    case OF_BFLOAT16:
      return c.compute == OF_FLOAT32;
    default:
      break;
  }
  switch (c.compute) {
    case OF_INT32:
    case OF_UINT32:
      return item_size(c.dtype) <= 4;
    case OF_INT64:
    case OF_UINT64:
      return true;
    default:
      return false;
  }
}

// The descriptor's dimensions sorted into roles. A batch dimension that one side lacks is a row or a column.
of_status sort_dims(const of_contraction& contraction, Problem& problem) {
  struct Source {
    const of_contraction_dim* dims;
    int32_t count;
    DimGroup* group;
  };
  const Source sources[] = {{contraction.batch, contraction.batch_count, &problem.batch},
                            {contraction.m, contraction.m_count, &problem.rows},
                            {contraction.n, contraction.n_count, &problem.columns},
                            {contraction.k, contraction.k_count, &problem.depth}};
  for (const Source& source : sources) {
    if (source.count < 0 || source.count > OF_MAX_RANK)
      return fail(OF_INVALID_ARGUMENT, "contraction: %d dimensions in one group", source.count);
    int64_t bias_step = source.group == &problem.columns ? contraction.bias_stride : 0;
    for (int d = source.count - 1; d >= 0; --d) {
      const of_contraction_dim& dim = source.dims[d];
      if (dim.size < 0) return fail(OF_INVALID_ARGUMENT, "contraction: a size is negative");
      DimGroup* group = source.group;
      if (group == &problem.batch && dim.stride_b == 0) group = &problem.rows;
      if (group == &problem.batch && dim.stride_a == 0) group = &problem.columns;
      if (dim.size != 1) group->add({dim.size, {dim.stride_a, dim.stride_b, dim.stride_c, bias_step}});
      bias_step *= dim.size;
    }
  }
  return OF_OK;
}

// The order of the rows (or columns) for packing, in which C has them so far. Packing takes one element of each cache
// line where neither they nor the depth run along the operand: then they are turned or, where this touches more than
// writing C does and the caches keep C until its lines are full, follow the operand. `others` are those of the other
// operand. Whether they are turned.
bool order_for_packing(const Problem& problem, DimGroup& side, Operand operand, const DimGroup& others) {
  const bool should_follow = problem.depth.count > 2 * others.count && innermost_step(problem.depth, operand) != 1;
  const int64_t cells = problem.batch.count * side.count * others.count;
  const bool may_scatter = cells <= streamed_tile_bytes() / item_size(problem.dtype);
  if (!(should_follow && may_scatter) && computes_in_itself(problem.dtype) && turn(side, operand, problem.depth))
    return true;
  if (should_follow) canonicalize(side, operand, kC);
  return false;
}

// `rearrange` may find a better way for a problem that no strips take.
template <class Rearrange>
Solved solve(Problem problem, Rearrange&& rearrange) {
  bring_in_order(problem);
  const bool is_swapped = should_swap(problem);
  if (is_swapped) swap_sides(problem);
  auto solution = solve_in_strips(problem);
  if (!solution) solution = rearrange(problem);
  if (!solution) solution = solve_directly(problem);
  if (!solution) solution = solve_converted(problem);
  if (!solution) {
    problem.rows_are_turned = order_for_packing(problem, problem.rows, kA, problem.columns);
    problem.columns_are_turned = order_for_packing(problem, problem.columns, kB, problem.rows);
    solution = solve_by_packing(problem);
  }
  return {std::move(solution), is_swapped};
}

Solved solve_as_it_lies(const Problem& problem) {
  return solve(problem, [](const Problem&) { return nullptr; });
}

// What a descriptor comes to, whatever its addresses: no solution where there is nothing to do.
of_status prepare(const of_contraction& contraction, std::unique_ptr<Solved>& prepared) {
  if (!accepts(contraction) || contraction.epilogue != 0)
    return fail(OF_UNSUPPORTED, "contraction: this combination of element types is not implemented");
  Problem problem;
  problem.dtype = contraction.dtype;
  problem.alpha = contraction.alpha;
  problem.beta = contraction.beta;
  problem.has_bias = contraction.bias != nullptr;
  const of_status status = sort_dims(contraction, problem);
  if (status != OF_OK) return status;
  prepared = std::make_unique<Solved>();
  if (problem.batch.count == 0 || problem.rows.count == 0 || problem.columns.count == 0) return OF_OK;
  *prepared = solve(problem, [](const Problem& each) { return solve_rearranged(each, solve_as_it_lies); });
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
  const bool is_kept = contraction->struct_size >= sizeof(of_contraction) && contraction->prepared != nullptr;
  if (is_kept && *contraction->prepared != nullptr)
    return run(*static_cast<const Solved*>(*contraction->prepared), *contraction);
  std::unique_ptr<Solved> prepared;
  if (const of_status status = prepare(*contraction, prepared); status != OF_OK) return status;
  const of_status status = run(*prepared, *contraction);
  if (is_kept) *contraction->prepared = prepared.release();
  return status;
} catch (const std::bad_alloc&) {
  return fail(OF_OUT_OF_MEMORY, "contraction: no memory to work it out");
}

void discard_contraction(void* prepared) { delete static_cast<Solved*>(prepared); }

}  // namespace oneflow::cpu
