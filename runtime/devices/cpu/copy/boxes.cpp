#include "copy/boxes.h"

#include <algorithm>
#include <cstdlib>

#include "simd/cache_sizes.h"
#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// The maximum size of a box of one tensor, so that the boxes of a few tensors stay in a second-level cache.
constexpr int64_t kBoxBytes = kL2Bytes / 8;
// The size of the contiguous pieces, a few cache lines, that a box has of each tensor if its dimensions allow that; and
// the size up to which tensors need none, because they stay in the caches.
constexpr int64_t kPieceBytes = 256, kSmallBytes = 16 << 10;
// A tensor that repeats each element this often along the innermost dimension needs no contiguous pieces either.
constexpr int64_t kMinRepeats = 64;

}  // namespace

Boxes::Boxes(std::span<const Layout> tensors) : strides_(tensors.size()) {
  const Layout& space = tensors.front();
  for (int32_t d = 0; d < space.rank; ++d) {
    if (space.sizes[d] == 1) continue;
    sizes_[rank_] = space.sizes[d];
    for (size_t t = 0; t < tensors.size(); ++t) strides_[t].steps[rank_] = tensors[t].strides[d];
    ++rank_;
  }
}

// Returns the dimensions in the memory order of a tensor, merging adjacent dimensions that are contiguous in all
// tensors.
Boxes Boxes::sorted_like(size_t tensor) const {
  int32_t order[OF_MAX_RANK];
  for (int32_t d = 0; d < rank_; ++d) order[d] = d;
  std::stable_sort(order, order + rank_,
                   [&](int32_t x, int32_t y) { return std::abs(strides(tensor)[x]) > std::abs(strides(tensor)[y]); });
  Boxes sorted = *this;
  sorted.rank_ = 0;
  for (int32_t i = 0; i < rank_; ++i) {
    const int64_t size = sizes_[order[i]];
    int32_t& last = sorted.rank_;  // the number of dimensions so far
    bool merges = last > 0;
    for (size_t t = 0; t < strides_.size(); ++t)
      merges = merges && sorted.strides_[t].steps[last - 1] == strides(t)[order[i]] * size;
    if (!merges) sorted.sizes_[last++] = 1;
    sorted.sizes_[last - 1] *= size;
    for (size_t t = 0; t < strides_.size(); ++t) sorted.strides_[t].steps[last - 1] = strides(t)[order[i]];
  }
  return sorted;
}

bool Boxes::is_in_order(size_t tensor) const {
  int64_t reach = 0;
  for (int32_t d = rank_ - 1; d >= 0; --d) {
    const int64_t stride = std::abs(strides(tensor)[d]);
    if (stride == 0) continue;
    if (stride < reach) return false;
    reach = stride * sizes_[d];
  }
  return true;
}

int64_t Boxes::count_in_order() const {
  int64_t count = 0;
  for (size_t t = 0; t < strides_.size(); ++t) count += is_in_order(t);
  return count;
}

bool Boxes::has_nonzero_strides(size_t tensor) const {
  return std::count(strides(tensor), strides(tensor) + rank_, 0) == 0;
}

std::optional<Boxes> Boxes::find(std::span<const Layout> tensors, int64_t item_size) {
  const Boxes all(tensors);
  Boxes best = all.sorted_like(0);
  if (best.count_in_order() == static_cast<int64_t>(tensors.size())) return std::nullopt;
  for (size_t t = 1; t < tensors.size(); ++t) {
    if (!all.has_nonzero_strides(t)) continue;
    Boxes other = all.sorted_like(t);
    if (other.count_in_order() > best.count_in_order()) best = std::move(other);
  }
  best.cut(item_size);
  return best;
}

// Chooses the extents: first a contiguous piece of each tensor's memory, then as many elements as a box may have.
void Boxes::cut(int64_t item_size) {
  std::fill_n(extents_, rank_, 1);
  int64_t volume = 1;
  // Extends the box along dimension `d` to at least `wanted` elements, or to as many as the size of a box allows. The
  // dimension is cut into even parts.
  const auto extend = [&](int32_t d, int64_t wanted) {
    const int64_t others = volume / extents_[d], available = kBoxBytes / item_size / others;
    int64_t extent = divide_up(sizes_[d], std::max<int64_t>(1, sizes_[d] / wanted));
    if (extent > available) extent = divide_up(sizes_[d], divide_up(sizes_[d], available));
    extents_[d] = std::max(extents_[d], extent);
    volume = others * extents_[d];
  };
  for (size_t t = 0; t < strides_.size(); ++t) {
    if (distinct_count({rank_, sizes_, strides(t)}) * item_size <= kSmallBytes ||
        (strides(t)[rank_ - 1] == 0 && sizes_[rank_ - 1] >= kMinRepeats))
      continue;
    for (int64_t reach = 1; reach < kPieceBytes / item_size;) {
      const int64_t* next = std::find(strides(t), strides(t) + rank_, reach);
      const auto d = static_cast<int32_t>(next - strides(t));
      if (d == rank_) break;
      extend(d, divide_up(kPieceBytes / item_size, reach));
      if (extents_[d] < sizes_[d]) break;
      reach *= sizes_[d];
    }
  }
  for (int32_t d = rank_ - 1; d >= 0; --d) extend(d, sizes_[d]);
}

int64_t Boxes::count() const {
  int64_t count = 1;
  for (int32_t d = 0; d < rank_; ++d) count *= divide_up(sizes_[d], extents_[d]);
  return count;
}

int64_t Boxes::max_elements() const { return element_count({rank_, extents_, nullptr}); }

void Boxes::box_at(int64_t number, int64_t* position, int64_t* sizes) const {
  for (int32_t d = rank_ - 1; d >= 0; --d) {
    const int64_t cuts = divide_up(sizes_[d], extents_[d]);
    position[d] = number % cuts * extents_[d];
    sizes[d] = std::min(extents_[d], sizes_[d] - position[d]);
    number /= cuts;
  }
}

}  // namespace oneflow::cpu
