// Copies between a box (a rectangular part) of a strided tensor and a contiguous buffer that holds the box in row-major
// order. Where the orders of their dimensions differ, it copies tile by tile (copy/tiling.h).
#ifndef ONEFLOW_DEVICES_CPU_COPY_BOX_COPY_H_
#define ONEFLOW_DEVICES_CPU_COPY_BOX_COPY_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>

#include "copy/tiling.h"

namespace oneflow::cpu {

// The copies between boxes of equal sizes and strides, and buffers.
class BoxCopy {
 public:
  // Prepares copies of boxes with these sizes and strides, in elements of `item_size` bytes.
  BoxCopy(int32_t rank, const int64_t* sizes, const int64_t* strides, int64_t item_size);
  BoxCopy(const BoxCopy&) = delete;
  BoxCopy& operator=(const BoxCopy&) = delete;

  int64_t count() const { return element_count(box_); }
  // Returns whether the box and the buffer are contiguous along the same dimension, so that no tiles are needed.
  bool is_in_order() const { return !tiling_; }
  // Copies the box whose first element is at `box` to the buffer.
  void pack(const char* box, char* buffer) const;
  // Copies the buffer to the box.
  void unpack(const char* buffer, char* box) const;

 private:
  void copy_tiles(const char* from, const TileStrides& from_strides, char* to, const TileStrides& to_strides) const;

  int64_t sizes_[OF_MAX_RANK], strides_[OF_MAX_RANK], packed_strides_[OF_MAX_RANK];
  const Layout box_, packed_;
  const int64_t item_size_;
  std::optional<Tiling> tiling_;  // empty if is_in_order()
  TileStrides box_tile_strides_, packed_tile_strides_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_BOX_COPY_H_
