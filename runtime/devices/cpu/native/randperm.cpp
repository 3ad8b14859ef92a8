// randperm(): the order of as many random 64-bit numbers, of which equal ones keep their order.
//
// Items hold the upper half of each number. They are sorted by so many of its upper bits that few are equal; runs of
// equal ones are then sorted by whole numbers, which are drawn again.
#include <algorithm>
#include <bit>
#include <vector>

#include "copy/operand.h"
#include "native/items.h"
#include "native/native.h"
#include "simd/random.h"
#include "threads/partition.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kPartItems = 32 * 1024;

template <class Item>
of_status permute(const of_kernel_context& context) {
  const of_kernel_tensor& output = context.outputs[0];
  const int64_t count = output.sizes[0], parts = divide_up(count, kPartItems);
  // With 3 more bits than positions have, one number in eight has the same bits as another.
  const int sorted_bits = std::min<int>(kKeyBits<Item>, std::bit_width(static_cast<uint64_t>(count)) + 3);
  const int lowest_bit = kKeyBits<Item> - sorted_bits;
  const ScratchArray<Item> memory(count), spare(count);
  parallel_for(parts, [&](int64_t part) {
    uint64_t keys[kChunk];
    const int64_t end = std::min(count, (part + 1) * kPartItems);
    for (int64_t first = part * kPartItems; first < end; first += kChunk) {
      const int64_t piece = std::min(kChunk, end - first);
      OF_BEST_ISA(kItemLoops).draw_keys(context.seed, context.offset + static_cast<uint64_t>(first), piece, keys);
      for (int64_t i = 0; i < piece; ++i)
        memory[first + i] = item_of<Item>(keys[i] >> (64 - kKeyBits<Item>), first + i);
    }
  });
  const uint64_t digits = ~uint64_t{0} >> (64 - sorted_bits) << lowest_bit;
  const std::span<Item> items = sort_items(memory.items(), spare.items(), digits);

  const auto item_at = [&](int64_t i) -> Item& { return items[static_cast<size_t>(i)]; };
  const auto is_same_run = [&](int64_t i, int64_t j) {
    return key_of(item_at(i)) >> lowest_bit == key_of(item_at(j)) >> lowest_bit;
  };
  const auto whole_key = [&](Item item) {
    return wide_word(philox(context.seed, context.offset + static_cast<uint64_t>(position_of(item))), 0);
  };
  const auto is_before = [&](Item a, Item b) {
    if (key_of(a) != key_of(b)) return a < b;
    const uint64_t key_a = whole_key(a), key_b = whole_key(b);
    return key_a < key_b || (key_a == key_b && a < b);
  };
  std::vector<int64_t> begins;  // of the parts, each at the beginning of a run
  for (int64_t part = 0; part <= parts; ++part) {
    int64_t begin = std::min(count, part * kPartItems);
    while (0 < begin && begin < count && is_same_run(begin - 1, begin)) ++begin;
    begins.push_back(begin);
  }
  const Writer writer(output, OF_INT64);
  parallel_for(parts, [&](int64_t part) {
    const int64_t first = begins[static_cast<size_t>(part)], last = begins[static_cast<size_t>(part) + 1];
    for (int64_t begin = first, end; begin < last; begin = end) {
      for (end = begin + 1; end < last && is_same_run(begin, end);) ++end;
      if (end - begin > 1) std::sort(items.begin() + begin, items.begin() + end, is_before);
    }
    int64_t positions[kChunk];
    for (int64_t begin = first; begin < last; begin += kChunk) {
      const int64_t piece = std::min(kChunk, last - begin);
      for (int64_t i = 0; i < piece; ++i) positions[i] = position_of(item_at(begin + i));
      writer.write(begin, piece, positions);
    }
  });
  return OF_OK;
}

}  // namespace

of_status randperm(const of_kernel_context& context) {
  const bool is_short = context.outputs[0].sizes[0] <= int64_t{1} << 32;
  return is_short ? permute<NarrowItem>(context) : permute<WideItem>(context);
}

}  // namespace oneflow::cpu
