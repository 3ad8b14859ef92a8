#include "device/pool.h"

#include <algorithm>

namespace oneflow {

namespace {

// Returns the number of blocks in a slab.
constexpr uint64_t slab_count(int size_class) { return kSlabBytes / class_bytes(size_class); }

}  // namespace

bool Pool::Waiting::is_done() const noexcept {
  return std::all_of(ends.begin(), ends.end(), [](const Event& end) { return end.is_done(); });
}

void* Pool::take(int size_class) {
  const int end = std::min(size_class + kClassesPerDoubling + 1, kClassCount);
  int found = size_class;
  while (found < end && free_[found].empty()) ++found;
  if (found == end) return nullptr;
  void* memory = free_[found].back().memory;
  if (found != size_class) lent_.emplace(memory, found);
  free_[found].pop_back();
  large_bytes_ -= class_bytes(found);
  return memory;
}

int Pool::end_loan(int size_class, void* memory) noexcept {
  const auto lent = lent_.find(memory);
  if (lent == lent_.end()) return size_class;
  size_class = lent->second;
  lent_.erase(lent);
  return size_class;
}

void Pool::put(int size_class, void* memory) {
  free_[size_class].push_back({memory, ticks_ + 1});
  ++ticks_;
  large_bytes_ += class_bytes(size_class);
}

void* Pool::take_oldest(uint64_t until, int* size_class) {
  Block oldest{nullptr, until + 1};
  for (int c = kSmallClasses; c < kClassCount; ++c) {
    if (free_[c].empty() || free_[c].front().freed_at >= oldest.freed_at) continue;
    oldest = free_[c].front();
    *size_class = c;
  }
  if (!oldest.memory) return nullptr;
  free_[*size_class].erase(free_[*size_class].begin());
  large_bytes_ -= class_bytes(*size_class);
  return oldest.memory;
}

int Pool::take_small(int size_class, void** blocks, int wanted) {
  std::vector<Block>& free = free_[size_class];
  const int taken = std::min(wanted, static_cast<int>(free.size()));
  for (int i = 0; i < taken; ++i) {
    blocks[i] = free.back().memory;
    free.pop_back();
  }
  return taken;
}

void Pool::put_small(int size_class, void* const* blocks, int count) noexcept {
  // push_back() does not allocate: add_slab() has reserved space for all blocks.
  for (int i = 0; i < count; ++i) free_[size_class].push_back({blocks[i], 0});
}

void Pool::add_slab(int size_class, char* slab) {
  const uint64_t count = slab_count(size_class);
  std::vector<Block>& free = free_[size_class];
  std::vector<char*>& slabs = slabs_[size_class];
  if (slabs.size() == slabs.capacity()) slabs.reserve(2 * slabs.size() + 1);
  free.reserve((slabs.size() + 1) * count);
  slabs.push_back(slab);
  for (uint64_t i = count; i-- > 0;) free.push_back({slab + i * class_bytes(size_class), 0});
}

std::vector<char*> Pool::take_unused_slabs(int size_class) {
  std::vector<Block>& free = free_[size_class];
  std::vector<char*>& slabs = slabs_[size_class];
  const auto by_address = [](const Block& a, const Block& b) { return a.memory < b.memory; };
  std::sort(free.begin(), free.end(), by_address);
  const auto first_from = [&](char* address) {
    return std::lower_bound(free.begin(), free.end(), Block{address, 0}, by_address);
  };
  const auto is_used = [&](char* slab) {
    return first_from(slab + kSlabBytes) - first_from(slab) < static_cast<ptrdiff_t>(slab_count(size_class));
  };
  const auto unused = std::partition(slabs.begin(), slabs.end(), is_used);
  const std::vector<char*> taken(unused, slabs.end());
  if (taken.empty()) return taken;
  std::sort(unused, slabs.end());
  std::erase_if(free, [&](const Block& block) {
    const auto next = std::upper_bound(unused, slabs.end(), block.memory);
    return next != unused && block.memory < *(next - 1) + kSlabBytes;
  });
  slabs.erase(unused, slabs.end());
  return taken;
}

void Pool::put_waiting(Waiting&& block) { waiting_.push_back(std::move(block)); }

std::vector<Pool::Waiting> Pool::take_waiting(int size_class) {
  const auto first = std::stable_partition(waiting_.begin(), waiting_.end(),
                                           [&](const Waiting& each) { return each.size_class != size_class; });
  std::vector<Waiting> taken(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
  waiting_.erase(first, waiting_.end());
  return taken;
}

}  // namespace oneflow
