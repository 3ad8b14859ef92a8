// The loops of native/item_loops.h; compiled once per instruction set.
#include "native/item_loops.h"
#include "simd/random.h"

namespace oneflow::cpu::OF_ISA {
namespace {

inline uint32_t ranked(int32_t value) { return static_cast<uint32_t>(value) ^ 0x80000000; }
inline uint64_t ranked(int64_t value) { return static_cast<uint64_t>(value) ^ 0x8000000000000000; }
inline uint64_t ranked(uint64_t value) { return value; }
inline uint32_t ranked(float value) {
  const auto bits = __builtin_bit_cast(int32_t, value + 0.0f);
  return value != value ? ~uint32_t{0} : ranked(bits < 0 ? bits ^ 0x7fffffff : bits);
}
inline uint64_t ranked(double value) {
  const auto bits = __builtin_bit_cast(int64_t, value + 0.0);
  return value != value ? ~uint64_t{0} : ranked(bits < 0 ? bits ^ 0x7fffffffffffffff : bits);
}

template <class Value, class Item>
DifferingBits make_items(const Value* values, int64_t first, int64_t count, uint64_t flipped, Item* items) {
  constexpr int key_bits = static_cast<int>(sizeof(Item)) * 4;
  uint64_t of_any = 0, of_all = ~uint64_t{0};
#pragma omp simd reduction(| : of_any) reduction(& : of_all)
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = ranked(values[i]) ^ flipped;
    of_any |= key;
    of_all &= key;
    items[i] = static_cast<Item>(key) << key_bits | static_cast<Item>(first + i);
  }
  return {of_any, of_all};
}

void draw_keys(uint64_t seed, uint64_t counter, int64_t count, uint64_t* keys) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) keys[i] = wide_word(philox(seed, counter + static_cast<uint64_t>(i)), 0);
}

}  // namespace

extern const ItemLoops kItemLoops = {
    {make_items<float>, make_items<int32_t>},
    {make_items<float>, make_items<double>, make_items<int32_t>, make_items<int64_t>, make_items<uint64_t>},
    draw_keys};

}  // namespace oneflow::cpu::OF_ISA
