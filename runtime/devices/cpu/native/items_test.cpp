#include "native/items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace oneflow::cpu {
namespace {

// Items with random keys, of which only the bits `kept` vary.
template <class Item>
std::vector<Item> random_items(int64_t count, uint64_t kept) {
  std::mt19937_64 random(static_cast<uint64_t>(count));
  std::vector<Item> items;
  for (int64_t i = 0; i < count; ++i) items.push_back(item_of<Item>(random() & kept, i));
  return items;
}

template <class Item>
class Items : public testing::Test {};
using ItemTypes = testing::Types<NarrowItem, WideItem>;
TYPED_TEST_SUITE(Items, ItemTypes);

TYPED_TEST(Items, HoldTheLargestKeysAndPositions) {
  const uint64_t key = ~uint64_t{0} >> (64 - kKeyBits<TypeParam>);
  const int64_t position = static_cast<int64_t>(key >> 1);
  const TypeParam item = item_of<TypeParam>(key, position);
  EXPECT_EQ(key_of(item), key);
  EXPECT_EQ(position_of(item), position);
}

TYPED_TEST(Items, AreSortedByAllDigits) {
  for (const uint64_t kept : {0x0ull, 0x1ull, 0xffull, 0x80000001ull, 0xff00ff00ull, 0xffffffffull}) {
    for (const int64_t count : {0, 1, 2, 15, 16, 63, 64, 65, 1000, 70000, 600000}) {
      std::vector<TypeParam> items = random_items<TypeParam>(count, kept), spare(items.size()), expected = items;
      std::sort(expected.begin(), expected.end());
      const auto sorted = sort_items<TypeParam>(items, spare, kept);
      ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end())) << count << " " << kept;
    }
  }
}

TYPED_TEST(Items, AreSortedByUpperBits) {
  for (const int64_t count : {10, 5000}) {
    std::vector<TypeParam> items = random_items<TypeParam>(count, 0xffffffff), spare(items.size()), given = items;
    const auto sorted = sort_items<TypeParam>(items, spare, 0xfffff000);
    const auto is_before = [](TypeParam a, TypeParam b) { return key_of(a) >> 12 < key_of(b) >> 12; };
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(), is_before));
    EXPECT_TRUE(std::is_permutation(sorted.begin(), sorted.end(), given.begin(), given.end()));
  }
}

}  // namespace
}  // namespace oneflow::cpu
