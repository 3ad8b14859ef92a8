#include "space.h"

#include <algorithm>
#include <bit>

namespace oneflow::grid {

of_space make_space(int32_t rank, const int64_t* sizes) {
  of_space space{};
  space.rank = rank;
  space.count = 1;
  for (int32_t i = 0; i < rank; ++i) {
    const auto size = static_cast<uint32_t>(sizes[rank - 1 - i]);
    const int shift = size <= 1 ? 0 : std::bit_width(size - 1);
    space.sizes[i] = size;
    space.shifts[i] = static_cast<uint32_t>(shift);
    // 2^32 * (2^shift - size) / size + 1: below 2^32, as 2^shift is less than twice the size.
    space.multipliers[i] = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - size)) / size + 1);
    space.count *= size;
  }
  return space;
}

Pieces::Pieces(int32_t rank, const int64_t* sizes, const Limits& limits)
    : rank_(rank), sizes_(sizes), first_(rank), length_(1) {
  int64_t elements = 1;
  while (first_ > 0 && rank - first_ < limits.rank && elements * sizes[first_ - 1] <= limits.elements) {
    --first_;
    elements *= sizes[first_];
    length_ = sizes[first_];
  }
  if (first_ > 0 && rank - first_ < limits.rank) {  // part of a dimension that does not fit as a whole
    --first_;
    length_ = limits.elements / elements;
  }
  measure();
}

void Pieces::measure() {
  int64_t sizes[OF_GRID_RANK];
  const int32_t rank = rank_ - first_;
  for (int32_t d = 0; d < rank; ++d) sizes[d] = sizes_[first_ + d];
  if (rank > 0) sizes[0] = std::min(length_, sizes_[first_] - at_[first_]);
  space_ = make_space(rank, sizes);
}

int64_t Pieces::offset(const int64_t* strides) const {
  int64_t offset = 0;
  for (int32_t d = 0; d < rank_ && d <= first_; ++d) offset += at_[d] * strides[d];
  return offset;
}

of_strides Pieces::strides(const int64_t* strides) const {
  of_strides result{};
  for (int32_t d = first_; d < rank_; ++d) result.dims[rank_ - 1 - d] = strides[d];
  return result;
}

bool Pieces::next() {
  for (int32_t d = std::min(first_, rank_ - 1); d >= 0; --d) {
    at_[d] += d == first_ ? length_ : 1;
    if (at_[d] < sizes_[d]) {
      measure();
      return true;
    }
    at_[d] = 0;
  }
  return false;
}

}  // namespace oneflow::grid
