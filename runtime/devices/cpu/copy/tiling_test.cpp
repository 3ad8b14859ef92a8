#include "copy/tiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "copy/test_orders.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kElements = 1024;

// Returns how often the tiles of all tasks visit each element, by its offset in memory.
std::map<int64_t, int> visits(const Tiling& tiling, const Layout& tensor) {
  std::map<int64_t, int> times;
  for (int64_t task = 0; task < tiling.task_count(); ++task) {
    tiling.visit_tiles(task, [&](const Tile& tile) {
      EXPECT_LE(tile.rows * tile.columns, kElements);
      const TileStrides strides = tiling.tile_strides(tensor.strides);
      const RowLayout rows = tiling.layout(tile, strides);
      for (int64_t row = 0; row < rows.rows; ++row)
        for (int64_t column = 0; column < rows.columns; ++column)
          ++times[tiling.offset(tile, strides) + rows.row_steps().at(row) + rows.column_steps().at(column)];
    });
  }
  return times;
}

void expect_each_once(const Tiling& tiling, const Layout& tensor) {
  const std::map<int64_t, int> times = visits(tiling, tensor);
  EXPECT_EQ(static_cast<int64_t>(times.size()), element_count(tensor));
  for (const auto& [offset, count] : times) EXPECT_EQ(count, 1) << "the element at " << offset;
}

TEST(Tiling, VisitsEachElementOnce) {
  const std::vector<std::vector<int64_t>> shapes = {{40, 50},       {4, 1000},       {1000, 4},
                                                    {2, 700, 3},    {3, 70, 5, 9},   {200, 7, 300},
                                                    {7, 256, 4, 3}, {2, 2, 2, 2, 2}, {10, 10, 30, 5}};
  for (const auto& sizes : shapes) {
    const auto rank = static_cast<int32_t>(sizes.size());
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<int64_t> strides = strides_in(sizes, order);
    const Layout plain{rank, sizes.data(), strides.data()};
    expect_each_once(Tiling::by_rows(plain, 4, kElements), plain);
    const size_t last = order.back();
    do {
      const std::vector<int64_t> permuted = strides_in(sizes, order);
      const Layout across{rank, sizes.data(), permuted.data()};
      const Layout both[] = {plain, across};
      const auto tiling = Tiling::find(both, 4, kElements);
      ASSERT_EQ(tiling.has_value(), order.back() != last);
      if (!tiling) continue;
      expect_each_once(*tiling, plain);
      expect_each_once(*tiling, across);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Tiling, OneDimensionIsOneRow) {
  const int64_t size = 5000, stride = 3;
  const Layout line{1, &size, &stride};
  const Tiling tiling = Tiling::by_rows(line, 8, kElements);
  EXPECT_EQ(tiling.tile_count(), 5);
  expect_each_once(tiling, line);
}

}  // namespace
}  // namespace oneflow::cpu
