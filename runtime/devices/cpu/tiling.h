// Walking tensors of the same sizes whose elements are neighbours along different dimensions: by rectangles, within
// which each tensor is read or written in pieces of its own memory.
#ifndef ONEFLOW_DEVICES_CPU_TILING_H_
#define ONEFLOW_DEVICES_CPU_TILING_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rows.h"
#include "strided.h"

namespace oneflow::cpu {

// A rectangle of `rows` x `lanes` elements that begins at `position`.
struct Tile {
  int64_t rows, lanes;
  int64_t position[OF_MAX_RANK];
};

// Where the elements of tiles lie within one tensor.
struct TilePlaces {
  const int64_t* strides;
  int64_t row_stride, lane_stride;
  std::vector<int64_t> row_offsets, lane_offsets;  // where one stride does not say it
};

class Tiling {
 public:
  // Nothing where all tensors lie along the same dimension. A tile has at most `elements`.
  static std::optional<Tiling> find(std::span<const Layout> tensors, int64_t item_size, int64_t elements);
  // The last two dimensions, of at least one.
  static Tiling by_rows(const Layout& space, int64_t item_size, int64_t elements);

  int64_t tile_count() const { return tiles_; }
  Tile tile_at(int64_t number) const;
  // Of a tile.
  int64_t most_lanes() const { return lanes_.tile_size(); }
  int64_t most_elements() const { return rows_.tile_size() * lanes_.tile_size(); }

  // Whether the elements that a tile has of a tensor come in runs of so many, or as long as they are in the tensor.
  bool has_runs(const int64_t* strides, int64_t least) const;

  // Tiles that are worth handing out together.
  int64_t task_count() const { return (tiles_ + task_tiles_ - 1) / task_tiles_; }
  // Calls visit(tile) for each tile of a task.
  template <class Visit>
  void visit_tiles(int64_t task, Visit&& visit) const {
    for (int64_t i = task * task_tiles_; i < tiles_ && i < (task + 1) * task_tiles_; ++i) visit(tile_at(i));
  }

  // In a tensor with these strides, which have to live as long.
  TilePlaces places(const int64_t* strides) const;
  int64_t offset(const Tile& tile, const TilePlaces& places) const;
  RowLayout layout(const Tile& tile, const TilePlaces& places) const;

 private:
  // The dimensions of the rows, or lanes, of a tile, innermost first, of which the last one is cut.
  struct Side {
    int32_t rank = 0;
    int32_t dims[OF_MAX_RANK];
    int64_t count = 1;  // of all tiles
    int64_t whole = 1;  // the product of the sizes of those that are not cut
    int64_t cut_size = 1;
    int64_t step = 1;  // of the cut one, in a tile

    void add(int32_t dim, int64_t size);
    bool has(int32_t dim) const;
    void cut(int64_t wanted_step);
    int64_t tile_size() const { return whole * step; }
    int64_t tiles() const;
    void place(Tile& tile, int64_t& number, int64_t& size) const;
    int64_t find_steps(const int64_t* sizes, const int64_t* strides, std::vector<int64_t>& offsets) const;
  };

  Tiling(const Layout& space, const Side& rows, const Side& lanes, int64_t item_size, int64_t elements);
  static Side side_along(const Layout& tensor, int32_t first, int64_t enough, const Side& other);

  int32_t rank_;
  const int64_t* sizes_;
  Side rows_, lanes_;
  int64_t tiles_, task_tiles_;
};

// Copies the elements of a tile from one tensor to another of the same type.
void copy_tile(const Tiling& tiling, const Tile& tile, const void* source, const TilePlaces& source_places,
               void* result, const TilePlaces& result_places, int64_t item_size);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_TILING_H_
