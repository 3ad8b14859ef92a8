#include "tiling.h"

#include <algorithm>

#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements that are worth a task.
constexpr int64_t kTask = 32 * 1024;
// Elements of a side that are worth finding more dimensions for: a cache line, but no more than leaves room for as many
// of the other side in the smallest of tiles.
int64_t line_of(int64_t item_size) { return std::min<int64_t>(64 / item_size, 32); }
// Lines of a copy that fall on one set of a first-level cache should be full while they are there: lanes are so many
// of them. (dcae->edac of 64 x 20 x 8 x 64 0.2 of the time. Elementwise kernels have rows of one dimension instead.)
constexpr int64_t kAliasedLines = 4;
// Fewer rows, or lanes, are stepped over where the other side goes on behind them.
constexpr int64_t kFew = 8;
// What is worth a tile, as finding it takes as long as moving so many; what a tile of one row has.
constexpr int64_t kEnough = 128, kOneRow = 1024;

}  // namespace

// Around the others.
void Tiling::Side::add(int32_t dim, int64_t size) {
  dims[rank++] = dim;
  whole = count;
  count *= size;
  cut_size = size;
}

bool Tiling::Side::has(int32_t dim) const { return std::find(dims, dims + rank, dim) != dims + rank; }

void Tiling::Side::cut(int64_t wanted_step) { step = std::clamp<int64_t>(wanted_step, 1, cut_size); }

int64_t Tiling::Side::tiles() const { return divide_up(cut_size, step); }

// Where a tile of that number begins, and what it has of this side; the number becomes that of the others.
void Tiling::Side::place(Tile& tile, int64_t& number, int64_t& size) const {
  const int64_t begin = number % tiles() * step;
  number /= tiles();
  for (int32_t i = 0; i < rank; ++i) tile.position[dims[i]] = 0;
  if (rank > 0) tile.position[dims[rank - 1]] = begin;
  size = whole * std::min(step, cut_size - begin);
}

// The stride of a tile's elements in a tensor, or, where there is none, their offsets.
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

// The dimension `first` of a tensor with those that follow it in memory, until they are enough, but for those of
// `other`.
Tiling::Side Tiling::side_along(const Layout& tensor, int32_t first, int64_t enough, const Side& other) {
  Side side;
  int64_t following = 1;
  for (int32_t next = first; next >= 0;) {
    const bool is_others = other.has(next);
    if (!is_others) side.add(next, tensor.sizes[next]);
    if (side.count >= enough || (is_others && other.count >= kFew)) break;
    following *= tensor.sizes[next];
    next = -1;
    for (int32_t d = 0; d < tensor.rank; ++d)
      if (tensor.sizes[d] > 1 && tensor.strides[d] == following) next = d;
  }
  return side;
}

std::optional<Tiling> Tiling::find(std::span<const Layout> tensors, int64_t item_size, int64_t elements) {
  const Layout& space = tensors.front();
  // How many elements the tensors have that lie along each dimension. Lanes are along the last one of the most.
  int64_t along[OF_MAX_RANK] = {};
  for (const Layout& tensor : tensors)
    for (int32_t d = 0; d < space.rank; ++d)
      if (space.sizes[d] > 1 && tensor.strides[d] == 1) along[d] += distinct_count(tensor);
  const auto most_but = [&](int32_t other) {
    int32_t best = -1;
    for (int32_t d = 0; d < space.rank; ++d)
      if (d != other && along[d] > 0 && (best < 0 || along[d] >= along[best])) best = d;
    return best;
  };
  const int32_t lane_dim = most_but(-1), row_dim = most_but(lane_dim);
  if (row_dim < 0) return std::nullopt;
  const auto is_across = [&](const Layout& tensor) {
    return tensor.strides[row_dim] == 1 && tensor.strides[lane_dim] != 0 && tensor.strides[lane_dim] != 1;
  };
  const auto across = std::find_if(tensors.begin(), tensors.end(), is_across);
  if (across == tensors.end()) return std::nullopt;
  const auto lies_along = [&](const Layout& tensor) { return tensor.strides[lane_dim] == 1; };
  const auto straight = std::find_if(tensors.begin(), tensors.end(), lies_along);
  const int64_t line = line_of(item_size);
  Side row;
  row.add(row_dim, space.sizes[row_dim]);
  const int64_t row_step = straight->strides[row_dim] * item_size;
  const bool is_aliased =
      tensors.size() == 2 && space.sizes[row_dim] >= kFew && row_step != 0 && row_step % kSameSet == 0;
  Side lanes = side_along(*straight, lane_dim, is_aliased ? kAliasedLines * line : line, row);
  const Side rows = side_along(*across, row_dim, line, lanes);
  if (std::min(rows.count, lanes.count) < kLeastTurned) {
    // As one row, if that has all that is read together.
    const Side all = side_along(*straight, lane_dim, kOneRow, Side{});
    const bool has_rows = std::all_of(rows.dims, rows.dims + rows.rank, [&](int32_t d) {
      return all.has(d) && (d != all.dims[all.rank - 1] || all.count <= kOneRow);
    });
    if (has_rows) return Tiling(space, Side{}, all, item_size, std::min(kOneRow, elements));
  }
  if (rows.count * lanes.count < kEnough) lanes = side_along(*straight, lane_dim, divide_up(kEnough, rows.count), rows);
  return Tiling(space, rows, lanes, item_size, elements);
}

Tiling Tiling::by_rows(const Layout& space, int64_t item_size, int64_t elements) {
  Side rows, lanes;
  for (int32_t d = space.rank - 1; d >= 0; --d) {
    Side& side = lanes.count < line_of(item_size) ? lanes : rows;
    if (side.count * lanes.count < elements) side.add(d, space.sizes[d]);
  }
  return Tiling(space, rows, lanes, item_size, elements);
}

Tiling::Tiling(const Layout& space, const Side& rows, const Side& lanes, int64_t item_size, int64_t elements)
    : rank_(space.rank), sizes_(space.sizes), rows_(rows), lanes_(lanes) {
  const int64_t line = line_of(item_size);
  rows_.cut(std::min(divide_up(line, rows.whole), elements / lanes.whole / rows.whole));
  lanes_.cut(elements / rows_.tile_size() / lanes.whole);
  if (lanes_.tile_size() == lanes.count)
    rows_.cut(std::max(rows_.step, elements / lanes.count / line * line / rows.whole));
  tiles_ = rows_.tiles() * lanes_.tiles() * (element_count(space) / (rows.count * lanes.count));
  task_tiles_ = std::max<int64_t>(1, kTask / most_elements());
}

bool Tiling::has_runs(const int64_t* strides, int64_t least) const {
  const auto part_of = [&](int32_t d) -> int64_t {
    for (const Side* side : {&rows_, &lanes_})
      if (side->has(d)) return d == side->dims[side->rank - 1] ? side->step : sizes_[d];
    return 1;
  };
  bool moves = false;
  for (int32_t d = 0; d < rank_; ++d) moves = moves || (strides[d] != 0 && part_of(d) > 1);
  if (!moves) return true;
  for (int64_t run = 1; run < least;) {
    const auto d = static_cast<int32_t>(std::find(strides, strides + rank_, run) - strides);
    if (d == rank_ || sizes_[d] == 1) return true;
    if (part_of(d) < std::min(sizes_[d], divide_up(least, run))) return false;
    run *= sizes_[d];
  }
  return true;
}

// The rows of a tile are what its neighbour continues in the tensors that lie along them.
Tile Tiling::tile_at(int64_t number) const {
  Tile tile;
  rows_.place(tile, number, tile.rows);
  lanes_.place(tile, number, tile.lanes);
  for (int32_t d = rank_ - 1; d >= 0; --d) {
    if (rows_.has(d) || lanes_.has(d)) continue;
    tile.position[d] = number % sizes_[d];
    number /= sizes_[d];
  }
  return tile;
}

TilePlaces Tiling::places(const int64_t* strides) const {
  TilePlaces places{strides, 0, 0, {}, {}};
  places.row_stride = rows_.find_steps(sizes_, strides, places.row_offsets);
  places.lane_stride = lanes_.find_steps(sizes_, strides, places.lane_offsets);
  return places;
}

int64_t Tiling::offset(const Tile& tile, const TilePlaces& places) const {
  int64_t offset = 0;
  for (int32_t d = 0; d < rank_; ++d) offset += tile.position[d] * places.strides[d];
  return offset;
}

RowLayout Tiling::layout(const Tile& tile, const TilePlaces& places) const {
  const auto offsets_of = [](const std::vector<int64_t>& offsets) {
    return offsets.empty() ? nullptr : offsets.data();
  };
  RowLayout layout{tile.rows, tile.lanes, places.row_stride, places.lane_stride};
  layout.row_offsets = offsets_of(places.row_offsets);
  layout.lane_offsets = offsets_of(places.lane_offsets);
  return layout;
}

void copy_tile(const Tiling& tiling, const Tile& tile, const void* source, const TilePlaces& source_places,
               void* result, const TilePlaces& result_places, int64_t item_size) {
  copy_rows(static_cast<const char*>(source) + tiling.offset(tile, source_places) * item_size,
            tiling.layout(tile, source_places),
            static_cast<char*>(result) + tiling.offset(tile, result_places) * item_size,
            tiling.layout(tile, result_places), item_size);
}

}  // namespace oneflow::cpu
