#include "box_copy.h"

#include <algorithm>

namespace oneflow::cpu {

// Elements of a tile.
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
  box_places_ = tiling_->places(strides_);
  packed_places_ = tiling_->places(packed_strides_);
}

void BoxCopy::copy_tiles(const char* from, const TilePlaces& from_places, char* to, const TilePlaces& to_places) const {
  for (int64_t task = 0; task < tiling_->task_count(); ++task)
    tiling_->visit_tiles(
        task, [&](const Tile& tile) { copy_tile(*tiling_, tile, from, from_places, to, to_places, item_size_); });
}

void BoxCopy::pack(const char* box, char* buffer) const {
  if (!tiling_) return gather(box, box_, item_size_, 0, count(), buffer);
  copy_tiles(box, box_places_, buffer, packed_places_);
}

void BoxCopy::unpack(const char* buffer, char* box) const {
  if (!tiling_) return scatter(buffer, box, box_, item_size_, 0, count());
  copy_tiles(buffer, packed_places_, box, box_places_);
}

}  // namespace oneflow::cpu
