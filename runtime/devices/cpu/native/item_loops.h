// Loops that make the items of native/items.h.
#ifndef ONEFLOW_DEVICES_CPU_NATIVE_ITEM_LOOPS_H_
#define ONEFLOW_DEVICES_CPU_NATIVE_ITEM_LOOPS_H_

#include <cstdint>

#include "simd/isa.h"

namespace oneflow::cpu {

using NarrowItem = uint64_t;
__extension__ using WideItem = unsigned __int128;

// The bits that are set in any of some keys, and in all of them.
struct DifferingBits {
  uint64_t of_any, of_all;
};

// Makes the items of `count` elements whose positions are `first` and those after it. The keys are unsigned integers
// that order as the values do; those of all NaNs are the largest, those of both zeros are equal. The bits `flipped` of
// the keys are inverted.
template <class Value, class Item>
using MakeItems = DifferingBits (*)(const Value* values, int64_t first, int64_t count, uint64_t flipped, Item* items);

struct ItemLoops {
  struct {
    MakeItems<float, NarrowItem> of_floats;
    MakeItems<int32_t, NarrowItem> of_ints;
  } narrow;
  struct {
    MakeItems<float, WideItem> of_floats;
    MakeItems<double, WideItem> of_doubles;
    MakeItems<int32_t, WideItem> of_ints;
    MakeItems<int64_t, WideItem> of_longs;
    MakeItems<uint64_t, WideItem> of_naturals;
  } wide;
  // Draws the first wide word of `count` counters from `counter` on: see simd/random.h.
  void (*draw_keys)(uint64_t seed, uint64_t counter, int64_t count, uint64_t* keys);
};
OF_EACH_ISA(extern const ItemLoops kItemLoops)

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_NATIVE_ITEM_LOOPS_H_
