#include "fold_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace oneflow::grid {
namespace {

// Items that access consecutive elements together, so that memory transactions are used in full.
constexpr uint32_t kNeighbours = 32;
constexpr uint32_t kFewNeighbours = 8;
// The most tiles that an item folds in sequence: as many blocks as a block has tiles.
constexpr uint32_t kMostTiles = OF_FOLD_ROUNDS * OF_FOLD_STEPS * OF_FOLD_ROUNDS * OF_FOLD_STEPS;
constexpr uint32_t kMostSplits = 65535;   // CUDA's limit for the second dimension of a grid
constexpr uint32_t kMergedStates = 4096;  // that are worth a work-item
// The least size of a chunk of a scan, in tiles of a group and in elements.
constexpr int64_t kFewestTiles = 4;
constexpr int64_t kFewestSteps = 64;
constexpr uintptr_t kPacket = 16;  // bytes that a work-item may load at once

uint32_t shift_of(uint32_t power) { return static_cast<uint32_t>(std::countr_zero(power)); }

// Returns the dimension of the smallest stride among those whose bit in `mask` is `marked`; -1 when none of them has
// more than one element.
int32_t nearest(const of_kernel_tensor& input, uint32_t mask, bool marked) {
  int32_t best = -1;
  for (int32_t d = input.rank - 1; d >= 0; --d) {
    if (((mask >> d & 1) != 0) != marked || input.sizes[d] == 1) continue;
    if (best < 0 || std::abs(input.strides[d]) < std::abs(input.strides[best])) best = d;
  }
  return best;
}

// Returns whether lanes should be folded elements rather than results, given the folded and the kept dimension with the
// smallest strides (-1 for none).
bool are_lines_better(const of_kernel_tensor& input, int32_t folded, int32_t kept, uint32_t min_lane_size) {
  if (folded < 0) return false;
  if (kept < 0) return true;
  if (std::abs(input.strides[folded]) < std::abs(input.strides[kept])) return input.sizes[folded] >= min_lane_size;
  return input.sizes[kept] < min_lane_size && input.sizes[folded] >= min_lane_size;
}

// Returns the tiles of a space, each of `lanes` lanes of `tile_items` items; a group has `items` items for them.
of_tiles make_tiles(const of_space& space, uint32_t lanes, uint32_t tile_items, uint32_t items) {
  of_tiles tiles{};
  tiles.size = space.sizes[0];
  tiles.elements = lanes * tile_items;
  tiles.item_shift = shift_of(tile_items);
  tiles.items = items;
  tiles.shift = shift_of(items);
  int64_t sizes[OF_GRID_RANK];
  for (int32_t i = 0; i < space.rank; ++i) sizes[space.rank - 1 - i] = space.sizes[i];
  sizes[space.rank - 1] = divide_up(tiles.size, tiles.elements);
  tiles.space = make_space(space.rank, sizes);
  return tiles;
}

// Returns how many items share a tile along a dimension of `size` elements. Where each access loads one element,
// several items do, so that neighbouring items access neighbouring elements.
uint32_t sharing_items(const FoldRun& run, uint32_t size, uint32_t lanes, bool is_packed) {
  if (is_packed || run.items == 1) return 1;
  return std::clamp(std::bit_floor(size / lanes), 1u, kNeighbours);
}

uint32_t round_up_to_power(uint32_t n) { return std::bit_ceil(std::max(n, 1u)); }

// Returns the square root, rounded down.
int64_t root(int64_t n) { return static_cast<int64_t>(std::sqrt(static_cast<double>(n))); }

}  // namespace

void Dims::add(int32_t dim, int64_t size) {
  dims[rank] = dim;
  sizes[rank] = size;
  ++rank;
}

void Dims::make_last(int32_t dim) {
  const auto at = std::find(dims, dims + rank, dim) - dims;
  std::rotate(dims + at, dims + at + 1, dims + rank);
  std::rotate(sizes + at, sizes + at + 1, sizes + rank);
}

int64_t Dims::count() const {
  int64_t product = 1;
  for (int32_t i = 0; i < rank; ++i) product *= sizes[i];
  return product;
}

DimStrides::DimStrides(const Dims& dims, const int64_t* all) {
  for (int32_t i = 0; i < dims.rank; ++i) list[i] = dims.dims[i] < 0 ? 0 : all[dims.dims[i]];
}

FoldLayout::FoldLayout(const of_kernel_tensor& input, uint32_t reduced, uint32_t min_lane_size) {
  for (int32_t d = 0; d < input.rank; ++d) {
    if (input.sizes[d] != 1) ((reduced >> d & 1) != 0 ? folded : kept).add(d, input.sizes[d]);
  }
  if (folded.rank == 0) folded.add(-1, 1);
  if (kept.rank == 0) kept.add(-1, 1);
  const int32_t nearest_folded = nearest(input, reduced, true), nearest_kept = nearest(input, reduced, false);
  is_lines = are_lines_better(input, nearest_folded, nearest_kept, min_lane_size);
  if (is_lines) {
    folded.make_last(nearest_folded);
  } else if (nearest_kept >= 0) {
    kept.make_last(nearest_kept);
  }
}

Handle kernel_for(const FoldRun& run, const FoldLayout& layout, const of_kernel_tensor& tensor,
                  const Variants& variants) {
  const Dims& dims = layout.is_lines ? layout.folded : layout.kept;
  const int32_t nearest = dims.dims[dims.rank - 1];
  const bool has_unit_stride = nearest < 0 || tensor.strides[nearest] == 1;
  return run.needs_unit_stride && !has_unit_stride ? variants.of(kAny) : variants.best(tensor.dtype);
}

FoldPlan plan_fold(const FoldRun& run, const FoldLayout& layout, const of_space& kept, const of_space& folded,
                   bool is_packed) {
  FoldPlan plan{};
  of_fold& fold = plan.fold;
  const uint32_t lanes = layout.is_lines ? run.line_lanes : run.row_lanes;
  if (layout.is_lines) {
    const uint32_t tile_items = sharing_items(run, folded.sizes[0], lanes, is_packed);
    const uint32_t tiles = make_tiles(folded, lanes, tile_items, 1).space.count;
    // Each item folds a few tiles, but enough items take part that neighbouring ones access neighbouring tiles.
    const uint32_t wanted = std::max(round_up_to_power(divide_up(tiles, OF_FOLD_STEPS)),
                                     std::min(round_up_to_power(tiles), std::max(kFewNeighbours / tile_items, 1u)));
    const uint32_t items = std::min(wanted * tile_items, run.items);
    fold.folded = make_tiles(folded, lanes, tile_items, items);
    fold.kept = make_tiles(kept, 1, 1, run.items / items);
  } else {
    const uint32_t tile_items = sharing_items(run, kept.sizes[0], lanes, is_packed);
    const uint32_t tiles = make_tiles(kept, lanes, tile_items, 1).space.count;
    const uint32_t across = std::min({round_up_to_power(tiles) * tile_items, kNeighbours, run.items});
    const uint32_t items = std::min(run.items / across, round_up_to_power(divide_up(folded.count, OF_FOLD_STEPS)));
    fold.folded = make_tiles(folded, 1, 1, items);
    fold.kept = make_tiles(kept, lanes, tile_items, run.items / items);
  }
  fold.is_packed = is_packed ? 1 : 0;
  fold.results = kept.count;

  // A group of a single item computes several results in sequence.
  const uint32_t kept_tiles = fold.kept.space.count, tiles_at_once = fold.kept.items >> fold.kept.item_shift;
  const int64_t tile_elements = int64_t{folded.count} * (layout.is_lines ? 1 : std::min<int64_t>(kept.sizes[0], lanes));
  const bool is_single = run.items == 1;
  fold.turns =
      is_single ? static_cast<uint32_t>(std::clamp<int64_t>(run.item_elements / tile_elements, 1, kept_tiles)) : 1;
  plan.groups = divide_up(kept_tiles, tiles_at_once * fold.turns);

  // Several groups share the elements of a result where results are few, to keep the device busy, and where elements
  // are many, so that rounding errors do not increase with their number.
  const uint32_t folded_tiles = fold.folded.space.count, round = fold.folded.items >> fold.folded.item_shift;
  const uint32_t tiles_per_item = divide_up(folded_tiles, round);
  const auto worth = static_cast<uint32_t>(std::max<int64_t>(run.item_elements / lanes, 1));
  const uint32_t for_groups = std::min(run.groups / plan.groups, tiles_per_item / worth);
  const uint32_t wanted = std::clamp(std::max(for_groups, divide_up(tiles_per_item, kMostTiles)), 1u, kMostSplits);
  fold.split_length = divide_up(divide_up(folded_tiles, wanted), round) * round;
  plan.splits = divide_up(folded_tiles, fold.split_length);
  return plan;
}

bool has_packets(const FoldLayout& layout, const of_kernel_tensor& tensor, const void* data, uint32_t lanes) {
  const uintptr_t bytes = std::min<uintptr_t>(kPacket, uintptr_t{lanes} * item_size(tensor.dtype));
  if (reinterpret_cast<uintptr_t>(data) % bytes != 0) return false;
  const auto has_aligned_strides = [&tensor, lanes](const Dims& dims, int32_t rank) {
    for (int32_t i = 0; i < rank; ++i) {
      if (dims.dims[i] >= 0 && tensor.strides[dims.dims[i]] % lanes != 0) return false;
    }
    return true;
  };
  const Dims &own = layout.is_lines ? layout.folded : layout.kept,
             &other = layout.is_lines ? layout.kept : layout.folded;
  const int32_t nearest = own.dims[own.rank - 1];
  return nearest >= 0 && tensor.strides[nearest] == 1 && has_aligned_strides(own, own.rank - 1) &&
         has_aligned_strides(other, other.rank);
}

ScanPlan plan_scan(const FoldRun& run, const FoldLayout& layout, const of_space& kept, bool is_packed) {
  ScanPlan plan{};
  of_scan& scan = plan.scan;
  const uint32_t lanes = layout.is_lines ? run.line_lanes : run.row_lanes;
  scan.size = layout.folded.count();
  scan.lines = kept.count;
  int64_t tile = 1;  // elements of a line that its items scan at a time
  if (layout.is_lines) {
    const auto tiles = static_cast<uint32_t>(std::min<int64_t>(divide_up(scan.size, lanes), run.items));
    scan.items = std::min(round_up_to_power(tiles), run.items);
    scan.kept = make_tiles(kept, 1, 1, run.items / scan.items);
    tile = int64_t{lanes} * scan.items;
  } else {
    scan.items = 1;
    scan.kept = make_tiles(kept, lanes, sharing_items(run, kept.sizes[0], lanes, is_packed), run.items);
  }
  scan.is_packed = is_packed ? 1 : 0;
  scan.shift = shift_of(scan.items);
  const uint32_t kept_tiles = scan.kept.space.count, tiles_at_once = scan.kept.items >> scan.kept.item_shift;
  const int64_t width = layout.is_lines ? 1 : std::min<int64_t>(kept.sizes[0], lanes);
  const bool is_single = run.items == 1;
  scan.turns = is_single
                   ? static_cast<uint32_t>(std::clamp<int64_t>(run.item_elements / (scan.size * width), 1, kept_tiles))
                   : 1;
  plan.groups = divide_up(kept_tiles, tiles_at_once * scan.turns);
  // Chunks keep the device busy. Each one reads the states of all chunks before it, which must remain the smaller part
  // of its work.
  const int64_t worth = std::max<int64_t>({run.item_elements / width, kFewestTiles * tile, kFewestSteps});
  const int64_t wanted = std::clamp<int64_t>(
      std::min({int64_t{run.groups} / plan.groups, scan.size / worth, root(scan.size)}), 1, kMostSplits);
  scan.chunk = divide_up(divide_up(scan.size, wanted), tile) * tile;
  plan.chunks = static_cast<uint32_t>(divide_up(scan.size, scan.chunk));
  return plan;
}

MergePlan plan_merge(const FoldRun& run, const of_space& kept, uint32_t splits, int64_t count) {
  MergePlan plan{};
  of_merge& merge = plan.merge;
  const uint32_t kept_items = std::min(run.items, round_up_to_power(kept.count));
  merge.kept = make_tiles(kept, 1, 1, kept_items);
  merge.kept_shift = shift_of(kept_items);
  merge.count = count;
  merge.splits = splits;
  merge.split_items = std::min(run.items / kept_items, round_up_to_power(splits));
  merge.turns = run.items == 1 ? std::clamp(kMergedStates / std::max(splits, 1u), 1u, kept.count) : 1;
  plan.geometry.groups = divide_up(kept.count, kept_items * merge.turns);
  plan.geometry.items = kept_items * merge.split_items;
  return plan;
}

}  // namespace oneflow::grid
