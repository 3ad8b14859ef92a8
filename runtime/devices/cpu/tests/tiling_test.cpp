#include "tiling.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace oneflow::cpu {
namespace {

constexpr int64_t kElements = 1024;

// How often the tiles of all tasks visit each element, by its offset in memory.
std::map<int64_t, int> visits(const Tiling& tiling, const Layout& tensor) {
  std::map<int64_t, int> times;
  for (int64_t task = 0; task < tiling.task_count(); ++task) {
    tiling.visit_tiles(task, [&](const Tile& tile) {
      EXPECT_LE(tile.rows * tile.lanes, kElements);
      const RowLayout rows = tiling.layout(tile, tensor.strides);
      for (int64_t row = 0; row < rows.rows; ++row)
        for (int64_t lane = 0; lane < rows.lanes; ++lane)
          ++times[tiling.offset(tile, tensor.strides) + row * rows.row_stride + lane * rows.lane_stride];
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
  const std::vector<std::vector<int64_t>> shapes = {{40, 50}, {4, 1000}, {1000, 4}, {3, 70, 5, 9}, {200, 7, 300}};
  for (const auto& sizes : shapes) {
    const auto rank = static_cast<int32_t>(sizes.size());
    std::vector<int64_t> strides(sizes.size(), 1), turned(sizes.size(), 1);
    for (size_t d = sizes.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * sizes[d];
    for (size_t d = 1; d < sizes.size(); ++d) turned[d] = turned[d - 1] * sizes[d - 1];
    const Layout plain{rank, sizes.data(), strides.data()}, across{rank, sizes.data(), turned.data()};
    const Layout both[] = {plain, across}, one[] = {plain, plain};
    const auto tiling = Tiling::find(both, 4, kElements);
    if (sizes.front() >= 4 && sizes.back() >= 4) {
      ASSERT_TRUE(tiling);
      expect_each_once(*tiling, plain);
      expect_each_once(*tiling, across);
    } else {
      EXPECT_FALSE(tiling);  // too few to turn
    }
    EXPECT_FALSE(Tiling::find(one, 4, kElements));
    expect_each_once(Tiling::by_rows(plain, 4, kElements), plain);
  }
}

TEST(Tiling, OneDimensionIsASingleRow) {
  const int64_t size = 5000, stride = 3;
  const Layout line{1, &size, &stride};
  const Tiling tiling = Tiling::by_rows(line, 8, kElements);
  EXPECT_EQ(tiling.tile_count(), 5);
  expect_each_once(tiling, line);
}

}  // namespace
}  // namespace oneflow::cpu
