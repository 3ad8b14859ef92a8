#include "native/items.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "threads/partition.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// The bits of a digit: so few that the ends of all buckets, and the cache lines that are written to, fit into a
// first-level cache.
constexpr int kDigitBits = 8;
constexpr int64_t kBuckets = 1 << kDigitBits;
// Lines with fewer items than this per digit are sorted by comparisons.
constexpr int64_t kFewPerDigit = 16;
// The items of a part, which is a task, and the maximum number of parts.
constexpr int64_t kPartItems = 32 * 1024, kMaxParts = 16;

// Distributes items to buckets by one digit, from bit `shift` on. Items of a bucket keep their order.
template <class Item>
void distribute(std::span<const Item> items, Item* to, int shift) {
  const auto size = static_cast<int64_t>(items.size()), parts = std::clamp<int64_t>(size / kPartItems, 1, kMaxParts);
  int64_t ends[kMaxParts][kBuckets];  // first the items of each bucket in each part, then where the next one goes
  const auto bucket_of = [shift](Item item) { return static_cast<uint8_t>(item >> shift); };
  const auto of_part = [&](int64_t i) {
    const Range range = part(size, i, parts);
    return items.subspan(static_cast<size_t>(range.begin), static_cast<size_t>(range.count));
  };
  parallel_for(parts, [&](int64_t i) {
    std::fill_n(ends[i], kBuckets, 0);
    for (const Item item : of_part(i)) ++ends[i][bucket_of(item)];
  });
  int64_t next = 0;
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket)
    for (int64_t i = 0; i < parts; ++i) next += std::exchange(ends[i][bucket], next);
  parallel_for(parts, [&](int64_t i) {
    for (const Item item : of_part(i)) to[ends[i][bucket_of(item)]++] = item;
  });
}

}  // namespace

template <class Item>
std::span<Item> sort_items(std::span<Item> items, std::span<Item> spare, uint64_t digits) {
  const int first = std::countr_zero(digits), last = static_cast<int>(std::bit_width(digits));
  if (static_cast<int64_t>(items.size()) < kFewPerDigit * divide_up(last - first, kDigitBits)) {
    std::sort(items.begin(), items.end());
    return items;
  }
  for (int bit = first; bit < last; bit += kDigitBits) {
    if ((digits >> bit) % kBuckets == 0) continue;
    distribute<Item>(items, spare.data(), bit + kKeyBits<Item>);
    std::swap(items, spare);
  }
  return items;
}
template std::span<NarrowItem> sort_items(std::span<NarrowItem> items, std::span<NarrowItem> spare, uint64_t digits);
template std::span<WideItem> sort_items(std::span<WideItem> items, std::span<WideItem> spare, uint64_t digits);

}  // namespace oneflow::cpu
