// The order in which strided kernels walk the dimensions of a space, and its division into blocks on CPU devices.
#ifndef ONEFLOW_DEVICES_GRID_WALK_H_
#define ONEFLOW_DEVICES_GRID_WALK_H_

#include <oneflow/device_plugin.h>

#include <span>

#include "kernels/layout.h"

namespace oneflow::grid {

// A permutation of the dimensions that several tensors of one shape share.
class Walk {
 public:
  // Keeps the dimensions in the tensor's order.
  explicit Walk(const of_kernel_tensor& tensor);
  // Returns an order for blocks of the last two dimensions. The last dimension stays the last. Before it comes the one
  // in which a transposed tensor has its smallest stride (one whose smallest stride is not in the last dimension); if
  // no tensor is transposed and the last dimension is short, the longest one.
  static Walk for_blocks(std::span<const of_kernel_tensor* const> tensors);

  int32_t rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  // Writes the strides of a tensor in this order to `sorted`.
  void sort(const int64_t* strides, int64_t* sorted) const;
  // Returns the blocks of a piece of the space.
  of_block block(const of_space& piece) const;

 private:
  int32_t rank_;
  int32_t dims_[OF_MAX_RANK];
  int64_t sizes_[OF_MAX_RANK];
  bool is_transposed_ = false;  // whether a tensor has its smallest stride in the dimension before the last
};

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_WALK_H_
