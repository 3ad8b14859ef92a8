// Copies between a box of a strided tensor and a buffer that has it in row-major order.
#ifndef ONEFLOW_DEVICES_CPU_BOX_COPY_H_
#define ONEFLOW_DEVICES_CPU_BOX_COPY_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>

#include "tiling.h"

namespace oneflow::cpu {

class BoxCopy {
 public:
  BoxCopy(int32_t rank, const int64_t* sizes, const int64_t* strides, int64_t item_size);
  BoxCopy(const BoxCopy&) = delete;
  BoxCopy& operator=(const BoxCopy&) = delete;

  int64_t count() const { return element_count(box_); }
  // Whether the box lies in the order of the buffer.
  bool is_in_order() const { return !tiling_; }
  // From the box to the buffer, and the other way.
  void pack(const char* box, char* buffer) const;
  void unpack(const char* buffer, char* box) const;

 private:
  void copy_tiles(const char* from, const TilePlaces& from_places, char* to, const TilePlaces& to_places) const;

  int64_t sizes_[OF_MAX_RANK], strides_[OF_MAX_RANK], packed_strides_[OF_MAX_RANK];
  const Layout box_, packed_;
  const int64_t item_size_;
  std::optional<Tiling> tiling_;  // nothing where the box lies in the order of the buffer
  TilePlaces box_places_, packed_places_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_BOX_COPY_H_
