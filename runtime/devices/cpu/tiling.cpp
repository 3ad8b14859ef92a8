#include "tiling.h"

#include <algorithm>

#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements that are worth a task.
constexpr int64_t kTask = 32 * 1024;
// Fewer rows or lanes are not worth turning.
constexpr int64_t kLeast = 4;
constexpr int64_t kLineBytes = 64;

}  // namespace

std::optional<Tiling> Tiling::find(std::span<const Layout> tensors, int64_t item_size, int64_t elements) {
  const Layout& space = tensors.front();
  // How many tensors lie along each dimension. Lanes are along the last one of the most.
  int along[OF_MAX_RANK] = {};
  for (const Layout& tensor : tensors)
    for (int32_t d = 0; d < space.rank; ++d) along[d] += space.sizes[d] >= kLeast && tensor.strides[d] == 1;
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
  if (std::none_of(tensors.begin(), tensors.end(), is_across)) return std::nullopt;
  return Tiling(space, row_dim, lane_dim, item_size, elements);
}

Tiling Tiling::by_rows(const Layout& space, int64_t item_size, int64_t elements) {
  return Tiling(space, space.rank - 2, space.rank - 1, item_size, elements);
}

Tiling::Tiling(const Layout& space, int32_t row_dim, int32_t lane_dim, int64_t item_size, int64_t elements)
    : rank_(space.rank), row_dim_(row_dim), lane_dim_(lane_dim), sizes_(space.sizes) {
  const int64_t rows = row_dim < 0 ? 1 : sizes_[row_dim], lanes = sizes_[lane_dim], line = kLineBytes / item_size;
  rows_ = std::min(rows, line);
  lanes_ = std::min(lanes, elements / rows_);
  if (lanes == lanes_) rows_ = std::min(rows, std::max(rows_, elements / lanes / line * line));
  row_tiles_ = divide_up(rows, rows_);
  lane_tiles_ = divide_up(lanes, lanes_);
  tiles_ = row_tiles_ * lane_tiles_ * (element_count(space) / (rows * lanes));
  task_tiles_ = std::max<int64_t>(1, kTask / (rows_ * lanes_));
}

// The rows of a tile are what its neighbour continues in the tensors that lie along them.
Tile Tiling::tile_at(int64_t number) const {
  Tile tile;
  const int64_t row = number % row_tiles_ * rows_;
  number /= row_tiles_;
  const int64_t lane = number % lane_tiles_ * lanes_;
  number /= lane_tiles_;
  for (int32_t d = rank_ - 1; d >= 0; --d) {
    if (d == row_dim_ || d == lane_dim_) continue;
    tile.position[d] = number % sizes_[d];
    number /= sizes_[d];
  }
  if (row_dim_ >= 0) tile.position[row_dim_] = row;
  tile.position[lane_dim_] = lane;
  tile.rows = row_dim_ < 0 ? 1 : std::min(rows_, sizes_[row_dim_] - row);
  tile.lanes = std::min(lanes_, sizes_[lane_dim_] - lane);
  return tile;
}

int64_t Tiling::offset(const Tile& tile, const int64_t* strides) const {
  int64_t offset = 0;
  for (int32_t d = 0; d < rank_; ++d) offset += tile.position[d] * strides[d];
  return offset;
}

}  // namespace oneflow::cpu
