#include "copy/tiling.h"

#include <algorithm>

#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// The number of elements per task.
constexpr int64_t kTask = 32 * 1024;
// Returns the number of elements below which a side of a tile is extended by more dimensions: those of a cache line,
// but at most 32, so that the smallest tiles have as many elements along the other side.
int64_t line_of(int64_t item_size) { return std::min<int64_t>(64 / item_size, 32); }
// If the rows of a copy map to one set of a first-level cache, the columns of a tile span this many cache lines, so
// that each line is used completely before it is evicted. Elementwise kernels use rows of one dimension instead.
constexpr int64_t kAliasedLines = 4;
// The size below which one side of a tile is skipped where the other side continues after it in memory.
constexpr int64_t kFew = 8;
// The minimum number of elements of a tile, because locating a tile takes as long as copying this many; and the number
// of elements of a tile that is a single row.
constexpr int64_t kMinTile = 128, kSingleRow = 1024;

}  // namespace

// Adds the next outer dimension.
void Tiling::Side::add(int32_t dim, int64_t size) {
  dims[rank++] = dim;
  whole = count;
  count *= size;
  cut_size = size;
}

bool Tiling::Side::has(int32_t dim) const { return std::find(dims, dims + rank, dim) != dims + rank; }

void Tiling::Side::cut(int64_t wanted_step) { step = std::clamp<int64_t>(wanted_step, 1, cut_size); }

int64_t Tiling::Side::tiles() const { return divide_up(cut_size, step); }

// Sets the position of tile `number` along this side's dimensions, and `size` to its number of elements along this
// side. Divides `number` by the number of tiles along this side, which leaves the tile's number along the other
// dimensions.
void Tiling::Side::locate(Tile& tile, int64_t& number, int64_t& size) const {
  const int64_t begin = number % tiles() * step;
  number /= tiles();
  for (int32_t i = 0; i < rank; ++i) tile.position[dims[i]] = 0;
  if (rank > 0) tile.position[dims[rank - 1]] = begin;
  size = whole * std::min(step, cut_size - begin);
}

// Returns the stride of a tile's elements along this side in a tensor; or 0 if one stride does not describe them, after
// storing their offsets.
int64_t Tiling::Side::find_steps(const int64_t* sizes, const int64_t* strides, std::vector<int64_t>& offsets) const {
  if (rank == 0) return 0;
  bool is_even = true;
  for (int32_t i = 1; i < rank; ++i) is_even = is_even && strides[dims[i]] == strides[dims[i - 1]] * sizes[dims[i - 1]];
  if (is_even) return strides[dims[0]];
  offsets.resize(static_cast<size_t>(tile_size()));
  int64_t filled = 1;
  for (int32_t i = 0; i < rank; ++i) {
    const int64_t times = i + 1 < rank ? sizes[dims[i]] : step;
    for (int64_t k = 1; k < times; ++k) {
      int64_t* next = offsets.data() + k * filled;
      for (int64_t n = 0; n < filled; ++n) next[n] = offsets[static_cast<size_t>(n)] + k * strides[dims[i]];
    }
    filled *= times;
  }
  return 0;
}

// Returns the dimension `first` of a tensor and those that follow it outwards in memory, without gaps, except
// dimensions of `other`, until they have `enough` elements.
Tiling::Side Tiling::side_along(const Layout& tensor, int32_t first, int64_t enough, const Side& other) {
  Side side;
  int64_t following = 1;
  for (int32_t next = first; next >= 0;) {
    const bool is_in_other = other.has(next);
    if (!is_in_other) side.add(next, tensor.sizes[next]);
    if (side.count >= enough || (is_in_other && other.count >= kFew)) break;
    following *= tensor.sizes[next];
    next = -1;
    for (int32_t d = 0; d < tensor.rank; ++d)
      if (tensor.sizes[d] > 1 && tensor.strides[d] == following) next = d;
  }
  return side;
}

std::optional<Tiling> Tiling::find(std::span<const Layout> tensors, int64_t item_size, int64_t elements) {
  const Layout& space = tensors.front();
  // The number of elements of the tensors that are contiguous along each dimension. Columns are along the dimension
  // with the most, rows along that with the second most; the last dimension wins a tie.
  int64_t along[OF_MAX_RANK] = {};
  for (const Layout& tensor : tensors)
    for (int32_t d = 0; d < space.rank; ++d)
      if (space.sizes[d] > 1 && tensor.strides[d] == 1) along[d] += distinct_count(tensor);
  const auto longest_but = [&](int32_t other) {
    int32_t best = -1;
    for (int32_t d = 0; d < space.rank; ++d)
      if (d != other && along[d] > 0 && (best < 0 || along[d] >= along[best])) best = d;
    return best;
  };
  const int32_t column_dim = longest_but(-1), row_dim = longest_but(column_dim);
  if (row_dim < 0) return std::nullopt;
  const auto is_across = [&](const Layout& tensor) {
    return tensor.strides[row_dim] == 1 && tensor.strides[column_dim] != 0 && tensor.strides[column_dim] != 1;
  };
  const auto across = std::find_if(tensors.begin(), tensors.end(), is_across);
  if (across == tensors.end()) return std::nullopt;
  const auto is_along = [&](const Layout& tensor) { return tensor.strides[column_dim] == 1; };
  const auto aligned = std::find_if(tensors.begin(), tensors.end(), is_along);
  const int64_t line = line_of(item_size);
  Side row;
  row.add(row_dim, space.sizes[row_dim]);
  const int64_t row_step = aligned->strides[row_dim] * item_size;
  const bool is_aliased =
      tensors.size() == 2 && space.sizes[row_dim] >= kFew && row_step != 0 && row_step % kL1AliasBytes == 0;
  Side columns = side_along(*aligned, column_dim, is_aliased ? kAliasedLines * line : line, row);
  const Side rows = side_along(*across, row_dim, line, columns);
  if (std::min(rows.count, columns.count) < kMinTransposed) {
    // Too few to transpose: use a single row instead, if it contains the dimensions of the rows.
    const Side all = side_along(*aligned, column_dim, kSingleRow, Side{});
    const bool has_rows = std::all_of(rows.dims, rows.dims + rows.rank, [&](int32_t d) {
      return all.has(d) && (d != all.dims[all.rank - 1] || all.count <= kSingleRow);
    });
    if (has_rows) return Tiling(space, Side{}, all, item_size, std::min(kSingleRow, elements));
  }
  if (rows.count * columns.count < kMinTile)
    columns = side_along(*aligned, column_dim, divide_up(kMinTile, rows.count), rows);
  return Tiling(space, rows, columns, item_size, elements);
}

Tiling Tiling::by_rows(const Layout& space, int64_t item_size, int64_t elements) {
  Side rows, columns;
  for (int32_t d = space.rank - 1; d >= 0; --d) {
    Side& side = columns.count < line_of(item_size) ? columns : rows;
    if (side.count * columns.count < elements) side.add(d, space.sizes[d]);
  }
  return Tiling(space, rows, columns, item_size, elements);
}

Tiling::Tiling(const Layout& space, const Side& rows, const Side& columns, int64_t item_size, int64_t elements)
    : rank_(space.rank), sizes_(space.sizes), rows_(rows), columns_(columns) {
  const int64_t line = line_of(item_size);
  rows_.cut(std::min(divide_up(line, rows.whole), elements / columns.whole / rows.whole));
  columns_.cut(elements / rows_.tile_size() / columns.whole);
  if (columns_.tile_size() == columns.count)
    rows_.cut(std::max(rows_.step, elements / columns.count / line * line / rows.whole));
  tiles_ = rows_.tiles() * columns_.tiles() * (element_count(space) / (rows.count * columns.count));
  task_tiles_ = std::max<int64_t>(1, kTask / max_elements());
}

bool Tiling::has_runs(const int64_t* strides, int64_t least) const {
  const auto part_of = [&](int32_t d) -> int64_t {
    for (const Side* side : {&rows_, &columns_})
      if (side->has(d)) return d == side->dims[side->rank - 1] ? side->step : sizes_[d];
    return 1;
  };
  bool varies = false;
  for (int32_t d = 0; d < rank_; ++d) varies = varies || (strides[d] != 0 && part_of(d) > 1);
  if (!varies) return true;
  for (int64_t run = 1; run < least;) {
    const auto d = static_cast<int32_t>(std::find(strides, strides + rank_, run) - strides);
    if (d == rank_ || sizes_[d] == 1) return true;
    if (part_of(d) < std::min(sizes_[d], divide_up(least, run))) return false;
    run *= sizes_[d];
  }
  return true;
}

// Consecutive tiles advance along the rows first: in tensors that are contiguous along the rows, each tile continues
// the memory of the previous one.
Tile Tiling::tile_at(int64_t number) const {
  Tile tile;
  rows_.locate(tile, number, tile.rows);
  columns_.locate(tile, number, tile.columns);
  for (int32_t d = rank_ - 1; d >= 0; --d) {
    if (rows_.has(d) || columns_.has(d)) continue;
    tile.position[d] = number % sizes_[d];
    number /= sizes_[d];
  }
  return tile;
}

TileStrides Tiling::tile_strides(const int64_t* strides) const {
  TileStrides result{strides, 0, 0, {}, {}};
  result.row_stride = rows_.find_steps(sizes_, strides, result.row_offsets);
  result.column_stride = columns_.find_steps(sizes_, strides, result.column_offsets);
  return result;
}

int64_t Tiling::offset(const Tile& tile, const TileStrides& tensor) const {
  int64_t offset = 0;
  for (int32_t d = 0; d < rank_; ++d) offset += tile.position[d] * tensor.strides[d];
  return offset;
}

RowLayout Tiling::layout(const Tile& tile, const TileStrides& tensor) const {
  const auto offsets_of = [](const std::vector<int64_t>& offsets) {
    return offsets.empty() ? nullptr : offsets.data();
  };
  RowLayout layout{tile.rows, tile.columns, tensor.row_stride, tensor.column_stride};
  layout.row_offsets = offsets_of(tensor.row_offsets);
  layout.column_offsets = offsets_of(tensor.column_offsets);
  return layout;
}

void copy_tile(const Tiling& tiling, const Tile& tile, const void* source, const TileStrides& source_strides,
               void* result, const TileStrides& result_strides, int64_t item_size) {
  copy_rows(static_cast<const char*>(source) + tiling.offset(tile, source_strides) * item_size,
            tiling.layout(tile, source_strides),
            static_cast<char*>(result) + tiling.offset(tile, result_strides) * item_size,
            tiling.layout(tile, result_strides), item_size);
}

}  // namespace oneflow::cpu
