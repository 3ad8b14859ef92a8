#include "core/message.h"

#include <algorithm>

namespace commnet {

namespace {

constexpr uint64_t kLarge = 256 << 10;
constexpr size_t kMostBlocks = 4;

}  // namespace

SpareMemory::SpareMemory() { blocks_.reserve(kMostBlocks); }

SpareMemory::Block SpareMemory::take(uint64_t size) {
  // A block may be up to twice as large.
  const auto found =
      std::ranges::find_if(blocks_, [&](const Block& block) { return block.size >= size && block.size / 2 <= size; });
  if (size < kLarge || found == blocks_.end()) return {std::unique_ptr<char[]>(new char[size]), size};
  is_used_ = true;
  Block block = std::move(*found);
  blocks_.erase(found);
  return block;
}

void SpareMemory::put(Block block) {
  if (block.size >= kLarge && blocks_.size() < kMostBlocks) blocks_.push_back(std::move(block));
}

void SpareMemory::tick() {
  if (!is_used_) blocks_.clear();
  is_used_ = false;
}

}  // namespace commnet
