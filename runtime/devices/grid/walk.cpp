#include "walk.h"

#include <algorithm>
#include <cstdlib>

#include "driver.h"

namespace oneflow::grid {
namespace {

// The width of blocks where a tensor is transposed: they cover cache lines in full in both dimensions.
constexpr uint32_t kTransposedWidth = 32;
// Shorter rows make blocks too small.
constexpr int64_t kShortRow = 64;

// The elements that a work-item takes, as long as that leaves at least kItems work-items.
constexpr uint32_t kElements = 4 * OF_BLOCK;
constexpr uint32_t kItems = 64;

// Returns the dimension with the smallest stride of a tensor, or -1 if that is the last one.
int32_t nearest_besides_last(const of_kernel_tensor& tensor) {
  if (tensor.data == nullptr) return -1;
  int64_t nearest = std::abs(tensor.strides[tensor.rank - 1]);
  int32_t best = -1;
  for (int32_t d = 0; d < tensor.rank - 1; ++d) {
    const int64_t stride = std::abs(tensor.strides[d]);
    if (stride == 0 || stride >= nearest) continue;
    nearest = stride;
    best = d;
  }
  return best;
}

}  // namespace

Walk::Walk(const of_kernel_tensor& tensor) : rank_(std::max(tensor.rank, 1)) {
  sizes_[0] = 1;
  dims_[0] = 0;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    sizes_[d] = tensor.sizes[d];
    dims_[d] = d;
  }
  if (tensor.rank == 0) dims_[0] = -1;
}

Walk Walk::for_blocks(std::span<const of_kernel_tensor* const> tensors) {
  Walk walk(*tensors[0]);
  const int32_t last = walk.rank_ - 1;
  if (last < 1) return walk;
  int32_t second = -1;
  for (const of_kernel_tensor* tensor : tensors) {
    const int32_t near = nearest_besides_last(*tensor);
    if (near >= 0 && (second < 0 || walk.sizes_[near] > walk.sizes_[second])) second = near;
  }
  walk.is_transposed_ = second >= 0;
  if (!walk.is_transposed_ && walk.sizes_[last] < kShortRow)
    second = static_cast<int32_t>(std::max_element(walk.sizes_, walk.sizes_ + last) - walk.sizes_);
  if (second >= 0) {
    std::rotate(walk.dims_ + second, walk.dims_ + second + 1, walk.dims_ + last);
    std::rotate(walk.sizes_ + second, walk.sizes_ + second + 1, walk.sizes_ + last);
  }
  return walk;
}

void Walk::sort(const int64_t* strides, int64_t* sorted) const {
  for (int32_t d = 0; d < rank_; ++d) sorted[d] = dims_[d] < 0 ? 0 : strides[dims_[d]];
}

of_block Walk::block(const of_space& piece) const {
  const uint32_t columns = piece.sizes[0], rows = piece.rank > 1 ? piece.sizes[1] : 1;
  of_block block{};
  block.width = std::min(columns, is_transposed_ ? kTransposedWidth : uint32_t{OF_BLOCK});
  block.height = std::min(rows, OF_BLOCK / block.width);
  block.width = std::min(columns, OF_BLOCK / block.height);
  block.columns = divide_up(columns, block.width);
  block.rows = divide_up(rows, block.height);
  block.count = piece.count / (columns * rows) * block.columns * block.rows;
  block.turns = std::clamp(kElements / (block.width * block.height), 1u, std::max(block.count / kItems, 1u));
  return block;
}

}  // namespace oneflow::grid
