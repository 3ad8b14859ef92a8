// Items: what sort(), topk() and randperm() compare. An item is an unsigned integer: its upper half is the key of an
// element, which orders as the elements shall, its lower half the position of the element. The items of a line all
// differ, so that every way of ordering them gives the stable order. Example: with 32-bit keys, the element at position
// 5 with key 7 is the item 7 << 32 | 5.
#ifndef ONEFLOW_DEVICES_CPU_NATIVE_ITEMS_H_
#define ONEFLOW_DEVICES_CPU_NATIVE_ITEMS_H_

#include <cstdint>
#include <span>

#include "native/item_loops.h"

namespace oneflow::cpu {

// The number of bits of a key, and of a position.
template <class Item>
constexpr int kKeyBits = static_cast<int>(sizeof(Item)) * 4;

template <class Item>
Item item_of(uint64_t key, int64_t position) {
  return static_cast<Item>(key) << kKeyBits<Item> | static_cast<Item>(position);
}
template <class Item>
uint64_t key_of(Item item) {
  return static_cast<uint64_t>(item >> kKeyBits<Item>);
}
template <class Item>
int64_t position_of(Item item) {
  return static_cast<int64_t>(item & ((Item{1} << kKeyBits<Item>)-1));
}

// Sorts items, whose positions ascend, by the bits of their keys from the lowest one in `digits` on; those that are
// equal in these are in any order, unless these are all bits that differ. `digits` has each higher bit that differs
// between keys. `spare` is memory for as many items. Returns the sorted items, which are in one of the two.
template <class Item>
std::span<Item> sort_items(std::span<Item> items, std::span<Item> spare, uint64_t digits);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_NATIVE_ITEMS_H_
