#include "contract_direct.h"

#include <algorithm>

#include "contract_kernels.h"
#include "element.h"
#include "scratch.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// A side with this few rows or columns makes a product thin: packing would cost more than it saves.
constexpr int64_t kThin = 2;
// Multiplications of one member of the batch up to which the whole product is tiny.
constexpr int64_t kTiny = 16 * 16 * 16;
// Lanes that one task walks: a few kilobytes, which stay in the first-level cache.
constexpr int64_t kTaskLanes = 512;
// Multiplications that a task should have at least.
constexpr int64_t kTaskWork = int64_t{1} << 16;
// Elements of one piece of a long sum; the pieces are added up in order. Shorter where each needs an offset.
constexpr int64_t kPiece = int64_t{1} << 15;
constexpr int64_t kGatheredPiece = int64_t{1} << 11;
// Elements of C up to which sums are gathered one by one rather than packed: panels would be all but empty.
constexpr int64_t kFewCells = 16;

// The dimensions of C, outermost first.
DimGroup cells_of(const Problem& problem) {
  DimGroup cells;
  for (const DimGroup* group : {&problem.batch, &problem.rows, &problem.columns})
    for (int d = 0; d < group->rank; ++d) cells.add(group->dims[d]);
  return cells;
}

bool is_unit(const Dim& dim) {
  const int64_t a = dim.strides[kA], b = dim.strides[kB];
  return (a == 0 || a == 1) && (b == 0 || b == 1) && a + b > 0;
}

// The dimension to walk in vectors: one that lies next to each other in C too, if there is one, and the longest of
// those. -1 where there is none.
int choose_lane(const DimGroup& cells) {
  int best = -1;
  const auto rank_of = [&](int d) { return std::pair(cells.dims[d].strides[kC] == 1, cells.dims[d].size); };
  for (int d = 0; d < cells.rank; ++d)
    if (is_unit(cells.dims[d]) && (best < 0 || rank_of(d) > rank_of(best))) best = d;
  return best;
}

Dim take(DimGroup& group, int position) {
  const Dim dim = group.dims[position];
  std::move(group.dims + position + 1, group.dims + group.rank, group.dims + position);
  --group.rank;
  group.count = 1;
  for (int d = 0; d < group.rank; ++d) group.count *= group.dims[d].size;
  return dim;
}

constexpr Dim kNoDim{1, {0, 0, 0, 0}};

// Vectors over `lane`, a dimension of `cells`; kNoDim for single elements.
bool multiply_lanes(const Problem& problem, const ContractKernels& kernels, DimGroup cells, const Dim& lane) {
  const Dim inner = cells.rank > 0 ? take(cells, cells.rank - 1) : kNoDim;
  const int64_t depth = problem.depth.count;
  const Scratch tables(2 * depth * static_cast<int64_t>(sizeof(int64_t)));
  auto* depth_a = static_cast<int64_t*>(tables.data());
  if (depth_a == nullptr) return false;
  int64_t* depth_b = depth_a + depth;
  fill_offsets(problem.depth, kA, 0, depth, depth_a);
  fill_offsets(problem.depth, kB, 0, depth, depth_b);

  constexpr int64_t kPlaces = 256;
  const int64_t lane_tasks = divide_up(lane.size, kTaskLanes);
  const int64_t task_lanes = divide_up(lane.size, lane_tasks);
  const int64_t work_per_place = std::max<int64_t>(1, task_lanes * inner.size * depth);
  const int64_t task_places = std::clamp<int64_t>(kTaskWork / work_per_place, 1, kPlaces);
  const int64_t place_tasks = divide_up(cells.count, task_places);
  parallel_for(lane_tasks * place_tasks, [&](int64_t task) {
    const int64_t first_lane = task / place_tasks * task_lanes;
    const int64_t first_place = task % place_tasks * task_places;
    int64_t places[3][kPlaces];
    LaneProduct product;
    product.lanes = std::min(task_lanes, lane.size - first_lane);
    product.lane = {lane.strides[kA], lane.strides[kB], lane.strides[kC]};
    product.inner = inner.size;
    product.inner_step = {inner.strides[kA], inner.strides[kB], inner.strides[kC]};
    product.count = std::min(task_places, cells.count - first_place);
    for (const Operand operand : {kA, kB, kC})
      fill_offsets(cells, operand, first_place, product.count, places[operand]);
    product.places_a = places[kA];
    product.places_b = places[kB];
    product.places_c = places[kC];
    product.a = problem.operands[kA] + first_lane * lane.strides[kA] * kernels.size;
    product.b = problem.operands[kB] + first_lane * lane.strides[kB] * kernels.size;
    product.c = problem.c + first_lane * lane.strides[kC] * kernels.size;
    product.depth = depth;
    product.depth_a = depth_a;
    product.depth_b = depth_b;
    kernels.lanes(product);
  });
  return true;
}

// One sum after the other: by vectors where the depth's elements lie next to each other in A and B, otherwise one by
// one.
bool multiply_dots(const Problem& problem, const ContractKernels& kernels, const DimGroup& cells, bool unit_depth) {
  const int64_t depth = problem.depth.count, size = kernels.size;
  const int64_t pieces =
      unit_depth ? (cells.count < 64 ? divide_up(depth, kPiece) : 1) : divide_up(depth, kGatheredPiece);
  const int64_t task_pieces = unit_depth ? 1 : kPiece / kGatheredPiece;
  const int64_t piece_tasks = divide_up(pieces, task_pieces);
  const int64_t task_cells = pieces > 1 ? 1 : std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, depth));
  const Scratch sums(pieces > 1 ? pieces * cells.count * size : 1);
  if (sums.data() == nullptr) return false;
  const auto sum_at = [&](int64_t cell, int64_t piece) {
    return pieces > 1 ? static_cast<char*>(sums.data()) + (cell * pieces + piece) * size
                      : problem.c + offset_at(cells, kC, cell) * size;
  };
  parallel_for(divide_up(cells.count, task_cells) * piece_tasks, [&](int64_t task) {
    const int64_t first_cell = task / piece_tasks * task_cells, first_piece = task % piece_tasks * task_pieces;
    for (int64_t piece = first_piece; piece < std::min(first_piece + task_pieces, pieces); ++piece) {
      const int64_t begin = depth * piece / pieces, count = depth * (piece + 1) / pieces - begin;
      int64_t offsets[2][kGatheredPiece];
      if (!unit_depth) {
        fill_offsets(problem.depth, kA, begin, count, offsets[0]);
        fill_offsets(problem.depth, kB, begin, count, offsets[1]);
      }
      for (int64_t cell = first_cell; cell < std::min(first_cell + task_cells, cells.count); ++cell) {
        const char* a = problem.operands[kA] + offset_at(cells, kA, cell) * size;
        const char* b = problem.operands[kB] + offset_at(cells, kB, cell) * size;
        if (unit_depth) {
          kernels.dot(count, a + begin * size, b + begin * size, sum_at(cell, piece));
        } else {
          kernels.gathered_dot(count, a, offsets[0], b, offsets[1], sum_at(cell, piece));
        }
      }
    }
  });
  static constexpr int64_t kZero = 0;
  for (int64_t cell = 0; pieces > 1 && cell < cells.count; ++cell) {
    const int64_t offset = offset_at(cells, kC, cell);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const TileTarget tile{problem.c, &offset, &kZero, 1, true, false};
      kernels.finish(kernels.dtype, sum_at(cell, piece), 1,
                     {tile, 1, 1, piece > 0 ? 1.0 : 0.0, nullptr, nullptr, nullptr});
    }
  }
  return true;
}

}  // namespace

bool contract_directly(const Problem& problem) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  const int64_t depth = problem.depth.count;
  if (!problem.is_plain() || depth == 0 || problem.dtype == OF_BOOL || item_size(problem.dtype) != kernels.size)
    return false;
  const bool is_thin = std::min(problem.rows.count, problem.columns.count) <= kThin;
  const bool is_tiny = problem.rows.count * problem.columns.count <= kTiny / depth;
  if (!is_thin && !is_tiny) return false;

  DimGroup cells = cells_of(problem);
  const bool unit_depth =
      problem.depth.rank == 1 && problem.depth.dims[0].strides[kA] == 1 && problem.depth.dims[0].strides[kB] == 1;
  const int lane = choose_lane(cells);
  const int64_t lanes = lane < 0 ? 1 : cells.dims[lane].size;
  const bool is_dot = is_thin && depth >= 32 && depth > lanes;
  if (is_dot && (unit_depth || (lanes < 8 && problem.rows.count * problem.columns.count <= kFewCells)))
    return multiply_dots(problem, kernels, cells, unit_depth);
  // A few lanes over a long sum are left to the blocked product, which cuts the sum into parts.
  if (!is_tiny && (lanes < 8 || (cells.count < 1024 && depth > kPiece))) return false;
  return multiply_lanes(problem, kernels, cells, lane < 0 ? kNoDim : take(cells, lane));
}

}  // namespace oneflow::cpu
