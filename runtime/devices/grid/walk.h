// The order in which strided kernels walk the dimensions of a space, and how processors cut it into blocks.
#ifndef ONEFLOW_DEVICES_GRID_WALK_H_
#define ONEFLOW_DEVICES_GRID_WALK_H_

#include <oneflow/device_plugin.h>

#include <span>

#include "kernels/layout.h"

namespace oneflow::grid {

// The dimensions of tensors of the same sizes, in an order of our own.
class Walk {
 public:
  // As they are: the last one is the nearest for the first tensor.
  explicit Walk(const of_kernel_tensor& tensor);
  // The last one stays, and the one before it is what makes blocks of both worth most: the one along which a tensor
  // that is far apart along the last one has its neighbours, or the longest one where the last is short.
  static Walk for_blocks(std::span<const of_kernel_tensor* const> tensors);

  int32_t rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  // Strides of a tensor in this order.
  void sort(const int64_t* strides, int64_t* sorted) const;
  // Blocks for a piece of the space.
  of_block block(const of_space& piece) const;

 private:
  int32_t rank_;
  int32_t dims_[OF_MAX_RANK];
  int64_t sizes_[OF_MAX_RANK];
  bool is_turned_ = false;  // whether a tensor has its neighbours along the dimension before the last
};

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_WALK_H_
