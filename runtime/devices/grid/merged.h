// Iteration spaces with as few dimensions as the operands' strides allow.
#ifndef ONEFLOW_DEVICES_GRID_MERGED_H_
#define ONEFLOW_DEVICES_GRID_MERGED_H_

#include <oneflow/device_plugin.h>

#include <array>
#include <cstdint>

namespace oneflow::grid {

// A space that some operands walk together, built from the slowest dimension to the fastest.
template <int operands>
class Merged {
 public:
  using Strides = std::array<int64_t, operands>;

  // Appends a dimension, as part of the one before it where each operand goes on there as it did.
  void add(int64_t size, const Strides& strides) {
    if (size == 1) return;
    if (rank_ > 0 && !is_apart_ && continues(size, strides)) {
      sizes_[rank_ - 1] *= size;
      for (int i = 0; i < operands; ++i) strides_[i][rank_ - 1] = strides[i];
      return;
    }
    append(size, strides, false);
  }
  // Appends a dimension that stays one of its own; returns which one.
  int32_t add_apart(int64_t size, const Strides& strides) {
    append(size, strides, true);
    return rank_ - 1;
  }

  // Takes neighbours along the last dimension as one element of up to 16 bytes, where the first `moved` operands have
  // them side by side, from addresses of which `addresses` has all bits on, and the others stay where they are. Returns
  // how many make one: `strides`, the bits of the strides that the caller has besides, are a multiple of it.
  int64_t join(int moved, uint32_t bytes, uintptr_t addresses, int64_t strides = 0) {
    if (rank_ == 0 || is_apart_) return 1;
    const int32_t last = rank_ - 1;
    int64_t multiples = strides | sizes_[last];
    for (int i = 0; i < operands; ++i) {
      if (strides_[i][last] != (i < moved ? 1 : 0)) return 1;
      for (int32_t d = 0; d < last && i < moved; ++d) multiples |= strides_[i][d];
    }
    int64_t count = 1;
    while (bytes * count < 16 && multiples % (2 * count) == 0 && addresses % (2 * bytes * count) == 0) count *= 2;
    sizes_[last] /= count;
    for (int i = 0; i < moved; ++i) {
      for (int32_t d = 0; d < last; ++d) strides_[i][d] /= count;
    }
    return count;
  }

  int32_t rank() const { return rank_; }
  const int64_t* sizes() const { return sizes_; }
  const int64_t* strides(int operand) const { return strides_[operand]; }

 private:
  bool continues(int64_t size, const Strides& strides) const {
    for (int i = 0; i < operands; ++i) {
      if (strides_[i][rank_ - 1] != strides[i] * size) return false;
    }
    return true;
  }
  void append(int64_t size, const Strides& strides, bool is_apart) {
    sizes_[rank_] = size;
    for (int i = 0; i < operands; ++i) strides_[i][rank_] = strides[i];
    ++rank_;
    is_apart_ = is_apart;
  }

  int32_t rank_ = 0;
  bool is_apart_ = false;  // of the last dimension
  int64_t sizes_[OF_MAX_RANK + 1];
  int64_t strides_[operands][OF_MAX_RANK + 1];
};

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_MERGED_H_
