// Walking tensors of the same sizes that lie in any orders by boxes, of which each has pieces of the memory of all.
#ifndef ONEFLOW_DEVICES_CPU_BOXES_H_
#define ONEFLOW_DEVICES_CPU_BOXES_H_

#include <oneflow/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strided.h"

namespace oneflow::cpu {

class Boxes {
 public:
  // With the dimensions in an order in which most of the tensors lie. Nothing where all lie in that of the first one,
  // which moves along all dimensions. `item_size`: of the widest.
  static std::optional<Boxes> find(std::span<const Layout> tensors, int64_t item_size);

  int32_t rank() const { return rank_; }
  const int64_t* strides(size_t tensor) const { return strides_[tensor].steps; }
  // Whether each dimension along which a tensor moves moves further than those inside of it.
  bool is_in_order(size_t tensor) const;

  int64_t count() const;
  // The sizes of the largest box, and its elements.
  const int64_t* extents() const { return extents_; }
  int64_t most_elements() const;
  bool is_cut(int32_t dim) const { return extents_[dim] < sizes_[dim]; }
  // Where a box begins, and its sizes.
  void box_at(int64_t number, int64_t* position, int64_t* sizes) const;

 private:
  struct Strides {
    int64_t steps[OF_MAX_RANK];
  };

  explicit Boxes(std::span<const Layout> tensors);
  Boxes sorted_like(size_t tensor) const;
  int64_t count_in_order() const;
  bool moves_everywhere(size_t tensor) const;
  void cut(int64_t item_size);

  int32_t rank_ = 0;
  int64_t sizes_[OF_MAX_RANK], extents_[OF_MAX_RANK];
  std::vector<Strides> strides_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_BOXES_H_
