// Splitting tensors of equal sizes but different dimension orders into boxes, rectangular parts that hold contiguous
// pieces of the memory of every tensor.
//
// Example: float32 tensors x and y have sizes {512, 512, 512}; x is contiguous, y has the strides {1, 512, 512 * 512}.
// No order of loops is sequential in both. A box of 64 x 1 x 512 elements has runs of 512 contiguous elements of x and
// of 64 contiguous elements of y, and fits into a cache: a kernel copies the box of y into a buffer in the order of x,
// and runs its inner loop on contiguous rows.
#ifndef ONEFLOW_DEVICES_CPU_COPY_BOXES_H_
#define ONEFLOW_DEVICES_CPU_COPY_BOXES_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copy/strided.h"

namespace oneflow::cpu {

// The boxes of some tensors, numbered in row-major order.
class Boxes {
 public:
  // Plans boxes over `tensors`, the first of which has no stride 0. Dimensions are sorted into an order that most of
  // the tensors are stored in. Returns nothing if all tensors are stored in the order of the first one, so that plain
  // loops are sequential. `item_size` is that of the widest tensor.
  static std::optional<Boxes> find(std::span<const Layout> tensors, int64_t item_size);

  int32_t rank() const { return rank_; }
  const int64_t* strides(size_t tensor) const { return strides_[tensor].steps; }
  // Returns whether the strides of a tensor, apart from zeros, decrease from the outermost to the innermost dimension:
  // whether it is stored in the order of the boxes.
  bool is_in_order(size_t tensor) const;

  // Returns the number of boxes.
  int64_t count() const;
  // The sizes of the largest box, and its number of elements.
  const int64_t* extents() const { return extents_; }
  int64_t max_elements() const;
  // Returns whether a dimension is split among several boxes.
  bool is_cut(int32_t dim) const { return extents_[dim] < sizes_[dim]; }
  // Returns the position of the first element of box `number`, and its sizes.
  void box_at(int64_t number, int64_t* position, int64_t* sizes) const;

 private:
  struct Strides {
    int64_t steps[OF_MAX_RANK];
  };

  explicit Boxes(std::span<const Layout> tensors);
  Boxes sorted_like(size_t tensor) const;
  int64_t count_in_order() const;
  bool has_nonzero_strides(size_t tensor) const;
  void cut(int64_t item_size);

  int32_t rank_ = 0;
  int64_t sizes_[OF_MAX_RANK], extents_[OF_MAX_RANK];
  std::vector<Strides> strides_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_BOXES_H_
