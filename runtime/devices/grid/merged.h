// Iteration spaces whose dimensions are merged as far as the strides of the operands allow.
#ifndef ONEFLOW_DEVICES_GRID_MERGED_H_
#define ONEFLOW_DEVICES_GRID_MERGED_H_

#include <oneflow/device_plugin.h>

#include <array>
#include <cstdint>

namespace oneflow::grid {

// An iteration space that several operands share, built from the slowest-varying dimension to the fastest.
template <int operands>
class Merged {
 public:
  using Strides = std::array<int64_t, operands>;

  // Appends a dimension, merged into the previous one where it continues that one in every operand. Skips dimensions of
  // size 1.
  void add(int64_t size, const Strides& strides) {
    if (size == 1) return;
    if (rank_ > 0 && !is_separate_ && continues(size, strides)) {
      sizes_[rank_ - 1] *= size;
      for (int i = 0; i < operands; ++i) strides_[i][rank_ - 1] = strides[i];
      return;
    }
    append(size, strides, false);
  }
  // Appends a dimension that is never merged; returns its index.
  int32_t add_separate(int64_t size, const Strides& strides) {
    append(size, strides, true);
    return rank_ - 1;
  }

  // Joins consecutive elements of the last dimension into units of up to 16 bytes, and rescales sizes and strides to
  // units. This takes unit stride along the last dimension in the first `moved` operands, and stride 0 in the others.
  // `bytes` is the size of an element, `addresses` the bitwise or of the moved operands' addresses, and `strides` the
  // bitwise or of further strides, which the caller rescales itself. Returns the number of elements in a unit; 1 where
  // nothing can be joined.
  int64_t join(int moved, uint32_t bytes, uintptr_t addresses, int64_t strides = 0) {
    if (rank_ == 0 || is_separate_) return 1;
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
  void append(int64_t size, const Strides& strides, bool is_separate) {
    sizes_[rank_] = size;
    for (int i = 0; i < operands; ++i) strides_[i][rank_] = strides[i];
    ++rank_;
    is_separate_ = is_separate;
  }

  int32_t rank_ = 0;
  bool is_separate_ = false;  // whether the last dimension must not be merged
  int64_t sizes_[OF_MAX_RANK + 1];
  int64_t strides_[operands][OF_MAX_RANK + 1];
};

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_MERGED_H_
