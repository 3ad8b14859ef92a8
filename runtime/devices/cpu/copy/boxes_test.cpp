#include "copy/boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "copy/box_copy.h"
#include "copy/test_orders.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kItem = 4, kMostElements = (128 << 10) / kItem;

// Returns how often the boxes visit each element of a tensor, by its offset in memory.
std::vector<int> visits(const Boxes& boxes, size_t tensor, int64_t elements) {
  std::vector<int> times(static_cast<size_t>(elements));
  for (int64_t number = 0; number < boxes.count(); ++number) {
    int64_t position[OF_MAX_RANK], sizes[OF_MAX_RANK];
    boxes.box_at(number, position, sizes);
    EXPECT_LE(element_count({boxes.rank(), sizes, nullptr}), boxes.max_elements());
    const int64_t count = element_count({boxes.rank(), sizes, nullptr});
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = 0, rest = i;
      for (int32_t d = boxes.rank() - 1; d >= 0; rest /= sizes[d], --d)
        offset += (position[d] + rest % sizes[d]) * boxes.strides(tensor)[d];
      ++times[static_cast<size_t>(offset)];
    }
  }
  return times;
}

TEST(Boxes, VisitEachElementOnceForAllDimensionOrders) {
  const std::vector<std::vector<int64_t>> shapes = {{40, 50},      {1, 300, 7},     {130, 9, 110},
                                                    {3, 70, 5, 9}, {17, 2, 33, 40}, {2, 3, 2, 5, 2}};
  for (const auto& sizes : shapes) {
    const int64_t elements = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
    const auto rank = static_cast<int32_t>(sizes.size());
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<int64_t> plain = strides_in(sizes, order);
    std::vector<size_t> backwards(order.rbegin(), order.rend());
    const std::vector<int64_t> reversed = strides_in(sizes, backwards);
    while (std::next_permutation(order.begin(), order.end())) {
      const std::vector<int64_t> permuted = strides_in(sizes, order);
      const Layout layouts[] = {{rank, sizes.data(), plain.data()},
                                {rank, sizes.data(), permuted.data()},
                                {rank, sizes.data(), reversed.data()}};
      const auto boxes = Boxes::find(layouts, kItem);
      ASSERT_TRUE(boxes.has_value());
      EXPECT_LE(boxes->max_elements(), kMostElements);
      for (size_t tensor = 0; tensor < 3; ++tensor) {
        const std::vector<int> times = visits(*boxes, tensor, elements);
        EXPECT_EQ(std::count(times.begin(), times.end(), 1), elements);
      }
    }
  }
}

TEST(Boxes, AreInTheOrderOfMostTensors) {
  const int64_t sizes[] = {30, 40, 50}, plain[] = {2000, 50, 1}, reversed[] = {1, 30, 1200}, broadcast[] = {0, 0, 1};
  const auto layout = [&](const int64_t* strides) { return Layout{3, sizes, strides}; };
  const Layout one_order[] = {layout(plain), layout(plain), layout(broadcast)};
  EXPECT_FALSE(Boxes::find(one_order, kItem).has_value());
  const Layout tie[] = {layout(plain), layout(reversed)};
  EXPECT_TRUE(Boxes::find(tie, kItem)->is_in_order(0));
  const Layout two_against_one[] = {layout(plain), layout(reversed), layout(reversed)};
  const auto boxes = Boxes::find(two_against_one, kItem);
  EXPECT_FALSE(boxes->is_in_order(0));
  EXPECT_TRUE(boxes->is_in_order(1) && boxes->is_in_order(2));
}

TEST(BoxCopy, PacksAndUnpacks) {
  const std::vector<int64_t> sizes = {5, 18, 7, 20};
  const int64_t elements = 5 * 18 * 7 * 20;
  std::vector<int32_t> box(static_cast<size_t>(elements)), buffer(box.size()), back(box.size());
  std::iota(box.begin(), box.end(), 0);
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    const std::vector<int64_t> strides = strides_in(sizes, order);
    const BoxCopy copy(4, sizes.data(), strides.data(), kItem);
    copy.pack(reinterpret_cast<const char*>(box.data()), reinterpret_cast<char*>(buffer.data()));
    for (int64_t i = 0; i < elements; ++i) {
      const int64_t offset =
          i / 2520 * strides[0] + i / 140 % 18 * strides[1] + i / 20 % 7 * strides[2] + i % 20 * strides[3];
      ASSERT_EQ(buffer[static_cast<size_t>(i)], offset);
    }
    copy.unpack(reinterpret_cast<const char*>(buffer.data()), reinterpret_cast<char*>(back.data()));
    ASSERT_EQ(back, box);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace oneflow::cpu
