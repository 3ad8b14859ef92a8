#include "ops/iteration.h"

#include <algorithm>
#include <cstdlib>

namespace oneflow {

Iteration::Iteration(Sizes sizes) : rank_(static_cast<int>(sizes.size())) {
  std::copy(sizes.begin(), sizes.end(), sizes_);
}

void Iteration::add(Sizes sizes, Sizes strides) {
  int64_t* out = strides_[operands_++];
  const int lead = rank_ - static_cast<int>(sizes.size());
  for (int d = 0; d < rank_; ++d) {
    const int own = d - lead;
    out[d] = own < 0 || (sizes[own] == 1 && sizes_[d] != 1) ? 0 : strides[own];
  }
}

void Iteration::sort_by_first_operand() {
  // An insertion sort, because there are few dimensions, which mostly are in order already.
  for (int i = 1; i < rank_; ++i) {
    for (int d = i; d > 0 && std::abs(strides_[0][d - 1]) < std::abs(strides_[0][d]); --d) {
      std::swap(sizes_[d - 1], sizes_[d]);
      for (int k = 0; k < operands_; ++k) std::swap(strides_[k][d - 1], strides_[k][d]);
    }
  }
}

void Iteration::merge(uint32_t* marks) {
  const uint32_t before = marks ? *marks : 0;
  uint32_t after = 0;
  int last = -1;  // the last dimension kept so far
  for (int d = 0; d < rank_; ++d) {
    if (sizes_[d] == 1) continue;
    const uint32_t mark = before >> d & 1;
    bool joins = last >= 0 && (after >> last & 1) == mark;
    for (int k = 0; k < operands_ && joins; ++k) joins = strides_[k][last] == strides_[k][d] * sizes_[d];
    if (joins) {
      sizes_[last] *= sizes_[d];
    } else {
      ++last;
      sizes_[last] = sizes_[d];
      after |= mark << last;
    }
    for (int k = 0; k < operands_; ++k) strides_[k][last] = strides_[k][d];
  }
  if (marks && after == 0) {
    // Reductions rely on a dimension to fold, even if all marked dimensions had size 1.
    ++last;
    sizes_[last] = 1;
    for (int k = 0; k < operands_; ++k) strides_[k][last] = 0;
    after = uint32_t{1} << last;
  }
  rank_ = last + 1;
  if (marks) *marks = after;
}

}  // namespace oneflow
