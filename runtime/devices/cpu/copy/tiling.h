// Splitting tensors of equal sizes, whose unit strides are along different dimensions, into tiles: two-dimensional
// parts within which every tensor is read or written in contiguous pieces.
//
// Example: x and y have sizes {512, 512} and strides {512, 1} and {1, 512}. A loop over rows reads one element of each
// cache line of y. A tile of 16 rows x 256 columns has contiguous rows of x and contiguous columns of y; within it y is
// transposed in registers. Rows and columns may each span several dimensions.
#ifndef ONEFLOW_DEVICES_CPU_COPY_TILING_H_
#define ONEFLOW_DEVICES_CPU_COPY_TILING_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copy/rows.h"
#include "copy/strided.h"

namespace oneflow::cpu {

// A tile of `rows` x `columns` elements whose first element is at `position`, a coordinate for each dimension.
struct Tile {
  int64_t rows, columns;
  int64_t position[OF_MAX_RANK];
};

// The strides of tiles in one tensor: of its dimensions, and of the rows and columns of a tile.
struct TileStrides {
  const int64_t* strides;
  int64_t row_stride, column_stride;
  std::vector<int64_t> row_offsets, column_offsets;  // if one stride does not describe them; else empty
};

// The tiles of some tensors of equal sizes.
class Tiling {
 public:
  // Plans tiles of at most `elements` elements. Returns nothing if the unit strides of all tensors are along the same
  // dimension, so that plain rows serve.
  static std::optional<Tiling> find(std::span<const Layout> tensors, int64_t item_size, int64_t elements);
  // Plans tiles along the innermost dimensions of a tensor of rank 1 or more: the columns are as many of them as fill a
  // cache line, the rows are dimensions around them.
  static Tiling by_rows(const Layout& space, int64_t item_size, int64_t elements);

  int64_t tile_count() const { return tiles_; }
  Tile tile_at(int64_t number) const;
  // The maximum number of columns, and of elements, of a tile.
  int64_t max_columns() const { return columns_.tile_size(); }
  int64_t max_elements() const { return rows_.tile_size() * columns_.tile_size(); }

  // Returns whether the elements of a tile in a tensor form contiguous runs of at least `least` elements, or as long as
  // those of the tensor itself.
  bool has_runs(const int64_t* strides, int64_t least) const;

  // Returns the number of tasks, each of which has enough tiles to be worth a task.
  int64_t task_count() const { return (tiles_ + task_tiles_ - 1) / task_tiles_; }
  // Calls visit(tile) for each tile of a task.
  template <class Visit>
  void visit_tiles(int64_t task, Visit&& visit) const {
    for (int64_t i = task * task_tiles_; i < tiles_ && i < (task + 1) * task_tiles_; ++i) visit(tile_at(i));
  }

  // Returns the strides of tiles in a tensor with these strides of its dimensions, which must live as long as the
  // result.
  TileStrides tile_strides(const int64_t* strides) const;
  // Returns the offset of a tile's first element in a tensor.
  int64_t offset(const Tile& tile, const TileStrides& tensor) const;
  // Returns the layout of a tile in a tensor, relative to its first element.
  RowLayout layout(const Tile& tile, const TileStrides& tensor) const;

 private:
  // The rows or the columns of the tiles: their dimensions, innermost first, of which the last one is cut into steps.
  struct Side {
    int32_t rank = 0;
    int32_t dims[OF_MAX_RANK];
    int64_t count = 1;     // the product of the sizes of all dimensions
    int64_t whole = 1;     // the product of the sizes of those that are not cut
    int64_t cut_size = 1;  // the size of the one that is cut
    int64_t step = 1;      // elements along the cut dimension per tile

    void add(int32_t dim, int64_t size);
    bool has(int32_t dim) const;
    void cut(int64_t wanted_step);
    int64_t tile_size() const { return whole * step; }
    int64_t tiles() const;
    void locate(Tile& tile, int64_t& number, int64_t& size) const;
    int64_t find_steps(const int64_t* sizes, const int64_t* strides, std::vector<int64_t>& offsets) const;
  };

  Tiling(const Layout& space, const Side& rows, const Side& columns, int64_t item_size, int64_t elements);
  static Side side_along(const Layout& tensor, int32_t first, int64_t enough, const Side& other);

  int32_t rank_;
  const int64_t* sizes_;
  Side rows_, columns_;
  int64_t tiles_, task_tiles_;
};

// Copies the elements of a tile from one tensor to another of the same type.
void copy_tile(const Tiling& tiling, const Tile& tile, const void* source, const TileStrides& source_strides,
               void* result, const TileStrides& result_strides, int64_t item_size);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_TILING_H_
