#include "copy/box_copy.h"

#include <algorithm>

namespace oneflow::cpu {

// The maximum number of elements of a tile.
constexpr int64_t kTile = 4096;

BoxCopy::BoxCopy(int32_t rank, const int64_t* sizes, const int64_t* strides, int64_t item_size)
    : box_{rank, sizes_, strides_}, packed_{rank, sizes_, packed_strides_}, item_size_(item_size) {
  std::copy_n(sizes, rank, sizes_);
  std::copy_n(strides, rank, strides_);
  int64_t count = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    packed_strides_[d] = count;
    count *= sizes[d];
  }
  const Layout layouts[] = {packed_, box_};
  tiling_ = Tiling::find(layouts, item_size, kTile);
  if (!tiling_) return;
  box_tile_strides_ = tiling_->tile_strides(strides_);
  packed_tile_strides_ = tiling_->tile_strides(packed_strides_);
}

void BoxCopy::copy_tiles(const char* from, const TileStrides& from_strides, char* to,
                         const TileStrides& to_strides) const {
  for (int64_t task = 0; task < tiling_->task_count(); ++task)
    tiling_->visit_tiles(
        task, [&](const Tile& tile) { copy_tile(*tiling_, tile, from, from_strides, to, to_strides, item_size_); });
}

void BoxCopy::pack(const char* box, char* buffer) const {
  if (!tiling_) return gather(box, box_, item_size_, 0, count(), buffer);
  copy_tiles(box, box_tile_strides_, buffer, packed_tile_strides_);
}

void BoxCopy::unpack(const char* buffer, char* box) const {
  if (!tiling_) return scatter(buffer, box, box_, item_size_, 0, count());
  copy_tiles(buffer, packed_tile_strides_, box, box_tile_strides_);
}

}  // namespace oneflow::cpu
