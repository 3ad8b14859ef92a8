// Walking tensors of the same sizes whose elements are neighbours along different dimensions: by rectangles of two
// dimensions, within which each tensor is read or written in pieces of its own memory.
#ifndef ONEFLOW_DEVICES_CPU_TILING_H_
#define ONEFLOW_DEVICES_CPU_TILING_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>
#include <span>

#include "rows.h"
#include "strided.h"

namespace oneflow::cpu {

// A rectangle of `rows` x `lanes` elements that begins at `position`.
struct Tile {
  int64_t rows, lanes;
  int64_t position[OF_MAX_RANK];
};

class Tiling {
 public:
  // Nothing where all tensors lie along the same dimension. A tile has at most `elements`.
  static std::optional<Tiling> find(std::span<const Layout> tensors, int64_t item_size, int64_t elements);
  // The last two dimensions, of at least one.
  static Tiling by_rows(const Layout& space, int64_t item_size, int64_t elements);

  int64_t tile_count() const { return tiles_; }
  Tile tile_at(int64_t number) const;

  // Tiles that are worth handing out together.
  int64_t task_count() const { return (tiles_ + task_tiles_ - 1) / task_tiles_; }
  // Calls visit(tile) for each tile of a task.
  template <class Visit>
  void visit_tiles(int64_t task, Visit&& visit) const {
    for (int64_t i = task * task_tiles_; i < tiles_ && i < (task + 1) * task_tiles_; ++i) visit(tile_at(i));
  }

  // Where a tile lies within a tensor.
  int64_t offset(const Tile& tile, const int64_t* strides) const;
  RowLayout layout(const Tile& tile, const int64_t* strides) const {
    return {tile.rows, tile.lanes, row_dim_ < 0 ? 0 : strides[row_dim_], strides[lane_dim_]};
  }

 private:
  Tiling(const Layout& space, int32_t row_dim, int32_t lane_dim, int64_t item_size, int64_t elements);

  int32_t rank_;
  int32_t row_dim_, lane_dim_;  // the first may be -1: none
  const int64_t* sizes_;
  int64_t rows_, lanes_;            // of a tile
  int64_t row_tiles_, lane_tiles_;  // along the two dimensions
  int64_t tiles_, task_tiles_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_TILING_H_
