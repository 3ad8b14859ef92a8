#include "contract/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "contract/gemm/depth.h"
#include "contract/gemm/prefetch.h"
#include "contract/gemm/side.h"
#include "contract/kernels.h"
#include "contract/test_problems.h"
#include "simd/convert.h"
#include "simd/element.h"
#include "simd/non_temporal.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr of_dtype kDtypes[] = {OF_FLOAT32, OF_FLOAT64, OF_INT64, OF_INT32, OF_FLOAT16, OF_BFLOAT16};

// The depth of a panel, as in gemm.cpp.
int64_t panel_depth(of_dtype dtype) {
  const ContractKernels& kernels = contract_kernels(dtype);
  return 2048 / kernels.size * kernels.depths_per_element;
}

// ------------------------------------------------------------------------------------------------ blocks and panels

// The dimensions of the rows of "kba,kn->abn", which are contiguous in A along a.
DimGroup rows_across_memory(int64_t a, int64_t b, int64_t n) {
  DimGroup rows;
  rows.add({a, {1, 0, b * n, 0}});
  rows.add({b, {a, 0, n, 0}});
  return rows;
}

DimGroup depth_of(int64_t count, int64_t stride) {
  DimGroup depth;
  depth.add({count, {stride, stride, 0, 0}});
  return depth;
}

void expect_blocks_to_cover_rows(const Side& side, int64_t rows, int64_t widest, bool pads, const std::string& where) {
  int64_t next = 0;
  for (int64_t i = 0; i < side.blocks(); ++i) {
    const Range block = side.block(i);
    EXPECT_EQ(block.begin, next) << where;
    EXPECT_GT(block.count, 0) << where;
    EXPECT_LE(block.count, side.most()) << where;
    next += block.count;
    const Panels panels = side.panels(block.count, 7, true);
    int64_t row = 0;
    for (int64_t panel = 0; panel < panels.count; ++panel) {
      EXPECT_EQ(panels.start(panel), row) << where;
      EXPECT_GT(panels.rows(panel), 0) << where;
      EXPECT_LE(panels.rows(panel), panels.width(panel)) << where;
      EXPECT_LE(panels.width(panel), widest) << where;
      EXPECT_EQ(panels.width(panel), pads ? widest : panels.rows(panel)) << where;
      row += panels.rows(panel);
    }
    EXPECT_EQ(row, block.count) << where;
  }
  EXPECT_EQ(next, rows) << where;
}

TEST(Side, BlocksAndPanelsCoverEachRowOnce) {
  const ContractKernels& kernels = contract_kernels(OF_FLOAT32);
  for (const int64_t rows : {1, 5, 15, 16, 31, 32, 33, 500, 1008, 1009, 2017, 5000}) {
    DimGroup group;
    group.add({rows, {3, 0, 1, 0}});
    for (const int64_t block : {16, 256, 512, 1008}) {
      const std::string where = std::to_string(rows) + " rows in blocks of " + std::to_string(block);
      const Side padded(group, kA, kernels, kernels.rows, true, block, false);
      expect_blocks_to_cover_rows(padded, rows, kernels.rows, true, where);
      const Side even(group, kA, kernels, kernels.columns, false, block, false);
      expect_blocks_to_cover_rows(even, rows, kernels.columns, false, where);
    }
  }
}

TEST(Side, TransposedBlocksCoverEachRowOnce) {
  const ContractKernels& kernels = contract_kernels(OF_FLOAT32);
  const DimGroup depth = depth_of(200, 100000);
  for (const auto& [a, b] : {std::pair{100, 70}, {1000, 8}, {8, 1000}, {300, 200}, {1000, 96}, {5000, 10}}) {
    DimGroup group;
    group.add({3, {1000000, 0, 10000000, 0}});
    group.append(rows_across_memory(a, b, 5));
    const int64_t rows = group.count;
    ASSERT_TRUE(order_for_transposing(group, kA, depth)) << a << " x " << b;
    EXPECT_EQ(group.count, rows);
    for (const int64_t block : {256, 1008, 4096}) {
      const std::string where = std::to_string(a) + " x " + std::to_string(b) + " in " + std::to_string(block);
      const Side side(group, kA, kernels, kernels.rows, true, block, true);
      expect_blocks_to_cover_rows(side, rows, kernels.rows, true, where);
    }
  }
}

TEST(Side, OrdersRowsForTransposing) {
  const DimGroup depth = depth_of(200, 100000);
  DimGroup group = rows_across_memory(200, 40, 3);
  ASSERT_TRUE(order_for_transposing(group, kA, depth));
  ASSERT_EQ(group.rank, 2);
  EXPECT_EQ(group.dims[0].size, 200);
  EXPECT_EQ(group.dims[1].size, 40);

  // 200 is split to 5 x 40, which fills squares of 16 best.
  group = rows_across_memory(100, 200, 3);
  ASSERT_TRUE(order_for_transposing(group, kA, depth));
  ASSERT_EQ(group.rank, 3);
  EXPECT_EQ(group.dims[0].size, 5);
  EXPECT_EQ(group.dims[0].strides[kA], 40 * 100);
  EXPECT_EQ(group.dims[0].strides[kC], 40 * 3);
  EXPECT_EQ(group.dims[1].strides[kA], 1);
  EXPECT_EQ(group.dims[2].size, 40);
}

TEST(Side, DoesNotTransposeWhatIsContiguousOrSmall) {
  const auto is_ordered = [](DimGroup group, const DimGroup& depth) {
    const DimGroup before = group;
    const bool is_ordered = order_for_transposing(group, kA, depth);
    if (!is_ordered) {
      EXPECT_EQ(group.rank, before.rank);
      for (int d = 0; d < group.rank; ++d) EXPECT_EQ(group.dims[d].size, before.dims[d].size);
    }
    return is_ordered;
  };
  const DimGroup depth = depth_of(200, 100000);
  EXPECT_TRUE(is_ordered(rows_across_memory(100, 70, 3), depth));
  EXPECT_FALSE(is_ordered(rows_across_memory(100, 70, 3), depth_of(20, 100000))) << "a small operand";
  EXPECT_FALSE(is_ordered(rows_across_memory(100, 70, 3), depth_of(200, 1))) << "a contiguous depth";
  EXPECT_FALSE(is_ordered(rows_across_memory(7, 1000, 3), depth)) << "a short contiguous dimension";
  EXPECT_FALSE(is_ordered(rows_across_memory(1000, 7, 3), depth)) << "a short innermost dimension";
  EXPECT_FALSE(is_ordered(rows_across_memory(100, 101, 3), depth)) << "a long innermost dimension without divisors";
  DimGroup contiguous;
  contiguous.add({100, {70, 0, 70, 0}});
  contiguous.add({70, {1, 0, 1, 0}});
  EXPECT_FALSE(is_ordered(contiguous, depth)) << "rows in the order of memory";
}

TEST(Side, FindsContiguousRunsOfABlock) {
  const ContractKernels& kernels = contract_kernels(OF_FLOAT32);
  DimGroup group;
  group.add({3, {10, 0, 5, 0}});
  group.add({5, {1, 0, 1, 0}});
  const Side side(group, kA, kernels, kernels.rows, true, 1008, false);
  Range runs[20];
  ASSERT_EQ(side.find_runs({1, 10}, 20, runs), 3);
  EXPECT_EQ(runs[0].begin, 1);
  EXPECT_EQ(runs[0].count, 4);
  EXPECT_EQ(runs[1].begin, 10);
  EXPECT_EQ(runs[1].count, 5);
  EXPECT_EQ(runs[2].begin, 20);
  EXPECT_EQ(runs[2].count, 1);
  EXPECT_EQ(side.find_runs({1, 10}, 2, runs), 0) << "more than there is memory for";

  DimGroup transposed = rows_across_memory(100, 70, 3);
  ASSERT_TRUE(order_for_transposing(transposed, kA, depth_of(200, 100000)));
  const Side across(transposed, kA, kernels, kernels.rows, true, 1008, true);
  for (int64_t i = 0; i < across.blocks(); ++i) {
    const Range block = across.block(i);
    std::vector<int64_t> offsets(static_cast<size_t>(block.count)), covered;
    across.fill_offsets(block, offsets.data());
    Range ranges[1024];
    const int64_t count = across.find_runs(block, 1024, ranges);
    ASSERT_GT(count, 0);
    for (int64_t run = 0; run < count; ++run)
      for (int64_t j = 0; j < ranges[run].count; ++j) covered.push_back(ranges[run].begin + j);
    std::sort(offsets.begin(), offsets.end());
    std::sort(covered.begin(), covered.end());
    EXPECT_EQ(covered, offsets);
  }
  EXPECT_EQ(across.find_runs(across.block(0), 10, runs), 0);
}

// ------------------------------------------------------------------------------------------------ the depth

std::map<std::pair<int64_t, int64_t>, int> offsets_of_depth(const Problem& problem) {
  const std::vector<int64_t> a = all_offsets(problem.depth, kA), b = all_offsets(problem.depth, kB);
  std::map<std::pair<int64_t, int64_t>, int> counts;
  for (size_t p = 0; p < a.size(); ++p) ++counts[{a[p], b[p]}];
  return counts;
}

void expect_table(const DepthTable& table) {
  for (int64_t p = 0; p < table.count; ++p) {
    int64_t run = 1;
    while (p + run < table.count && table.offsets[p + run] == table.offsets[p] + run) ++run;
    EXPECT_EQ(table.runs[p], run) << p;
  }
}

// Returns the offsets of a block in the order of the panels.
std::vector<int64_t> by_position(const DepthTable& table) {
  std::vector<int64_t> offsets(static_cast<size_t>(table.count), -1);
  for (int64_t p = 0; p < table.count; ++p)
    offsets.at(static_cast<size_t>(table.positions == nullptr ? p : table.positions[p])) = table.offsets[p];
  return offsets;
}

// Both operands must have the same indices of the depth at the same positions, and all blocks together each index once.
void expect_depth_in_blocks(const TestContraction& contraction, int64_t most, bool has_rectangles) {
  const Problem problem = contraction.problem();
  const Depth depth(problem, most);
  EXPECT_EQ(depth.has_rectangles(), has_rectangles) << contraction.description();
  EXPECT_LE(depth.most(), most);
  std::map<std::pair<int64_t, int64_t>, int> counts;
  const auto size = static_cast<size_t>(depth.table_size());
  std::vector<int64_t> memory_a(size), memory_b(size), memory_ordered(size);
  for (int64_t block = 0; block < depth.blocks(); ++block) {
    const DepthTable a = depth.fill_table(block, kA, memory_a.data());
    const DepthTable b = depth.fill_table(block, kB, memory_b.data());
    ASSERT_EQ(a.count, b.count);
    EXPECT_GT(a.count, 0);
    EXPECT_LE(a.count, depth.most());
    expect_table(a);
    expect_table(b);
    const std::vector<int64_t> offsets_a = by_position(a), offsets_b = by_position(b);
    for (size_t p = 0; p < offsets_a.size(); ++p) ++counts[{offsets_a[p], offsets_b[p]}];
    const DepthTable ordered = depth.fill_table(block, kB, memory_ordered.data(), true);
    EXPECT_EQ(ordered.positions, nullptr);
    EXPECT_EQ(by_position(ordered), offsets_b);
  }
  EXPECT_EQ(counts, offsets_of_depth(problem)) << contraction.description();
}

TEST(Depth, BlocksCoverEachIndexOnce) {
  for (const int64_t most : {32, 100, 512}) {
    for (const int64_t size : {1, 31, 32, 33, 100, 1300})
      expect_depth_in_blocks({"ik,kj->ij", {{'i', 3}, {'k', size}, {'j', 2}}}, most, false);
    expect_depth_in_blocks({"ipq,jpq->ij", {{'i', 3}, {'p', 20}, {'q', 30}, {'j', 2}}}, most, false);
    expect_depth_in_blocks({"ipq,pqj->ij", {{'i', 3}, {'p', 20}, {'q', 30}, {'j', 2}}}, most, false);
  }
}

TEST(Depth, OperandsContiguousAlongDifferentDimensionsHaveRectangles) {
  for (const int64_t most : {100, 512}) {
    expect_depth_in_blocks({"ipq,jqp->ij", {{'i', 30}, {'p', 20}, {'q', 33}, {'j', 2}}}, most, true);
    expect_depth_in_blocks({"iqp,jpq->ij", {{'i', 2}, {'p', 100}, {'q', 8}, {'j', 30}}}, most, true);
    expect_depth_in_blocks({"ipqr,jrpq->ij", {{'i', 5}, {'p', 9}, {'q', 10}, {'r', 40}, {'j', 2}}}, most, true);
  }
  // Short dimensions are not worth it, and with contiguous columns any order of the depth will do.
  expect_depth_in_blocks({"ipq,jqp->ij", {{'i', 30}, {'p', 7}, {'q', 33}, {'j', 2}}}, 512, false);
  expect_depth_in_blocks({"ipq,qpj->ij", {{'i', 30}, {'p', 20}, {'q', 33}, {'j', 2}}}, 512, false);
}

// ------------------------------------------------------------------------------------------------ packing

// Packs one operand of a contraction block by block, and compares the panels with the elements of the operand.
void expect_packed(const TestContraction& contraction, Operand operand, int64_t block_size, int64_t most_depth,
                   bool is_transposed) {
  Problem problem = contraction.problem();
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  DimGroup& group = operand == kA ? problem.rows : problem.columns;
  ASSERT_EQ(order_for_transposing(group, operand, problem.depth), is_transposed) << contraction.description();
  const Depth depth(problem, most_depth);
  const bool pads = operand == kA;
  const Side side(group, operand, kernels, pads ? kernels.rows : kernels.columns, pads, block_size, is_transposed);

  int64_t size = 1;
  for (const DimGroup* dims : {&group, &problem.depth})
    for (int d = 0; d < dims->rank; ++d) size += (dims->dims[d].size - 1) * dims->dims[d].strides[operand];
  std::vector<double> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % 101) + 1;
  std::vector<char> data(values.size() * static_cast<size_t>(item_size(problem.dtype)));
  find_conversion(OF_FLOAT64, problem.dtype)(values.data(), data.data(), size);

  std::vector<int64_t> depth_memory(static_cast<size_t>(depth.table_size()));
  for (int64_t depth_block = 0; depth_block < depth.blocks(); ++depth_block) {
    const DepthTable indices = depth.fill_table(depth_block, operand, depth_memory.data());
    const std::vector<int64_t> depth_offsets = by_position(indices);
    for (int64_t i = 0; i < side.blocks(); ++i) {
      const Range block = side.block(i);
      const Panels panels = side.panels(block.count, depth.most(), true);
      std::vector<int64_t> rows(static_cast<size_t>(block.count));
      side.fill_offsets(block, rows.data());
      std::vector<int64_t> table(static_cast<size_t>(side.table_size(block.count)));
      side.fill_table(block, panels, table.data());
      const int64_t count =
          panels.count * panels.bytes / item_size(kernels.depths_per_element > 1 ? problem.dtype : kernels.dtype);
      std::vector<char> packed(static_cast<size_t>(panels.count * panels.bytes), 0x55);
      parallel_for(side.tasks(block, panels), [&](int64_t task) {
        side.pack(task, block, panels, table.data(), problem.dtype, data.data(), indices, packed.data());
      });
      std::vector<double> elements(static_cast<size_t>(count));
      const of_dtype packed_dtype = kernels.depths_per_element > 1 ? problem.dtype : kernels.dtype;
      find_conversion(packed_dtype, OF_FLOAT64)(packed.data(), elements.data(), count);
      for (int64_t panel = 0; panel < panels.count; ++panel) {
        const int64_t first = panel * panels.bytes / item_size(packed_dtype), width = panels.width(panel);
        for (int64_t p = 0; p < indices.count; ++p) {
          for (int64_t row = 0; row < width; ++row) {
            const int64_t together = kernels.depths_per_element;
            const int64_t at = first + p / together * together * width + row * together + p % together;
            const bool is_padding = row >= panels.rows(panel);
            const double expected =
                is_padding ? 0
                           : values[static_cast<size_t>(rows[static_cast<size_t>(panels.start(panel) + row)] +
                                                        depth_offsets[static_cast<size_t>(p)])];
            ASSERT_EQ(elements[static_cast<size_t>(at)], expected)
                << contraction.description() << ": panel " << panel << ", depth " << p << ", row " << row;
          }
        }
      }
    }
  }
}

TEST(Packing, PanelsHaveTheElementsOfEveryLayout) {
  for (const of_dtype dtype : kDtypes) {
    for (const int64_t rows : {1, 7, 33, 300}) {
      for (const int64_t k : {1, 3, 16, 45, 130}) {
        const std::map<char, int64_t> sizes{{'i', rows}, {'k', k}, {'j', 40}};
        for (const char* order : {"ik", "ki"}) {
          TestContraction contraction("ik,kj->ij", sizes, dtype);
          expect_packed(contraction.lay_out(kA, {order}), kA, 256, 64, false);
          expect_packed(contraction.lay_out(kA, {order, 5}), kA, 64, 64, false);
          expect_packed(contraction.lay_out(kA, {order, 0, 2}), kA, 256, 64, false);
        }
      }
    }
    // Rows in short runs, rows of several dimensions, and a depth in rectangles.
    for (const char* order : {"abk", "akb", "kab", "bak", "bka", "kba"})
      expect_packed(
          TestContraction("abk,kj->abj", {{'a', 11}, {'b', 6}, {'k', 29}, {'j', 3}}, dtype).lay_out(kA, {order}), kA,
          64, 64, false);
    const std::map<char, int64_t> sizes{{'i', 50}, {'p', 24}, {'q', 37}, {'j', 29}};
    expect_packed({"ipq,jqp->ij", sizes, dtype}, kA, 256, 512, false);
    expect_packed({"ipq,jqp->ij", sizes, dtype}, kB, 256, 512, false);
  }
}

TEST(Packing, TransposedPanelsHaveTheElementsOfTheOperand) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_INT64}) {
    for (const auto& [a, b] : {std::pair{100, 70}, {300, 21}, {40, 200}}) {
      const int64_t k = (int64_t{1} << 20) / (a * b) + 3;
      const std::map<char, int64_t> sizes{{'a', a}, {'b', b}, {'k', k}, {'n', 2}};
      expect_packed({"kba,kn->abn", sizes, dtype}, kA, 1008, 128, true);
      expect_packed({"nk,kba->nab", sizes, dtype}, kB, 512, 128, true);
    }
    expect_packed({"ckba,kn->cabn", {{'a', 50}, {'b', 30}, {'c', 4}, {'k', 200}, {'n', 2}}, dtype}, kA, 1008, 128,
                  true);
  }
}

// ------------------------------------------------------------------------------------------------ prefetching

// Returns how often the tiles of all tasks prefetch each cache line of memory that begins at the address 0.
std::map<int64_t, int> prefetched_lines(const NextBlocks& next, int64_t tasks, int64_t tiles, int64_t steps) {
  std::map<int64_t, int> lines;
  for (int64_t task = 0; task < tasks; ++task) {
    PrefetchSchedule schedule(next, task, tasks, tiles, steps);
    for (int64_t i = 0; i < tiles; ++i) {
      TileTarget tile{};
      schedule.assign_to(tile);
      if (tile.prefetch_offsets == &TileTarget::kNoPrefetch) continue;
      std::set<int64_t> of_tile;
      for (int64_t p = 0; p < steps; ++p)
        of_tile.insert(
            (reinterpret_cast<int64_t>(tile.prefetch_base) + tile.prefetch_offsets[p >> tile.prefetch_shift]) / 64);
      for (const int64_t line : of_tile) ++lines[line];
    }
  }
  return lines;
}

std::set<int64_t> lines_of_block(const Side& side, const Range& block, const DepthTable& depth, int64_t item) {
  std::vector<int64_t> rows(static_cast<size_t>(block.count));
  side.fill_offsets(block, rows.data());
  std::set<int64_t> lines;
  for (const int64_t row : rows)
    for (int64_t p = 0; p < depth.count; ++p) lines.insert((row + depth.offsets[p]) * item / 64);
  return lines;
}

void expect_prefetched(const TestContraction& contraction, int64_t tasks, int64_t tiles) {
  const Problem problem = contraction.problem();
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  const int64_t item = item_size(problem.dtype);
  const Depth depth(problem, panel_depth(problem.dtype));
  const Side side(problem.rows, kA, kernels, kernels.rows, true, 512, false);
  std::vector<int64_t> memory(static_cast<size_t>(depth.table_size()));
  const DepthTable indices = depth.fill_table(0, kA, memory.data());
  const BlockLines block_lines(side, side.block(0), indices, item, depth.most());
  const NextBlocks next{{nullptr, nullptr}, {&block_lines, nullptr}};
  const std::set<int64_t> expected = lines_of_block(side, side.block(0), indices, item);
  std::set<int64_t> actual;
  for (const auto& [line, count] : prefetched_lines(next, tasks, tiles, depth.most())) actual.insert(line);
  EXPECT_EQ(actual, expected) << contraction.description();
}

TEST(Prefetch, TilesCoverTheNextBlock) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64}) {
    for (const auto& [tasks, tiles] : {std::pair{1, 1000}, {7, 200}, {16, 64}}) {
      const std::map<char, int64_t> sizes{{'i', 96}, {'k', 160}, {'j', 4}};
      expect_prefetched(TestContraction("ik,kj->ij", sizes, dtype), tasks, tiles);
      expect_prefetched(TestContraction("ki,kj->ij", sizes, dtype), tasks, tiles);
      expect_prefetched(TestContraction("ik,kj->ij", sizes, dtype).lay_out(kA, {"ik", 32}), tasks, tiles);
      // Each element is on a cache line of its own.
      expect_prefetched(TestContraction("ik,kj->ij", sizes, dtype).lay_out(kA, {"ik", 0, 16}), tasks, 2 * tiles);
    }
  }
}

TEST(Prefetch, CoversBothOperandsAndNoOtherMemory) {
  const Problem problem = TestContraction("ik,kj->ij", {{'i', 64}, {'k', 112}, {'j', 48}}).problem();
  const ContractKernels& kernels = contract_kernels(OF_FLOAT32);
  const Depth depth(problem, 512);
  const Side rows(problem.rows, kA, kernels, kernels.rows, true, 512, false);
  const Side columns(problem.columns, kB, kernels, kernels.columns, false, 512, false);
  std::vector<int64_t> memory_a(static_cast<size_t>(depth.table_size())), memory_b(memory_a.size());
  const DepthTable indices_a = depth.fill_table(0, kA, memory_a.data());
  const DepthTable indices_b = depth.fill_table(0, kB, memory_b.data());
  const BlockLines a(rows, rows.block(0), indices_a, 4, depth.most());
  const BlockLines b(columns, columns.block(0), indices_b, 4, depth.most());
  const int64_t start_b = 1 << 20;
  const NextBlocks next{{nullptr, reinterpret_cast<const char*>(start_b)}, {&a, &b}};
  std::set<int64_t> expected = lines_of_block(rows, rows.block(0), indices_a, 4), actual;
  for (const int64_t line : lines_of_block(columns, columns.block(0), indices_b, 4))
    expected.insert(line + start_b / 64);
  for (const auto& [line, count] : prefetched_lines(next, 5, 300, depth.most())) {
    EXPECT_TRUE(expected.count(line) == 1) << line;
    actual.insert(line);
  }
  EXPECT_EQ(actual, expected);

  // With too few tiles for all lines, each tile has lines of its own.
  const std::map<int64_t, int> some = prefetched_lines(next, 2, 2, depth.most());
  EXPECT_GT(some.size(), 0u);
  for (const auto& [line, count] : some) EXPECT_TRUE(expected.count(line) == 1) << line;
}

TEST(Prefetch, NothingIsAssignedWithoutNextBlocks) { EXPECT_TRUE(prefetched_lines({}, 3, 20, 50).empty()); }

// ------------------------------------------------------------------------------------------------ whole products

class Packed : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(threads_); }

 private:
  const int threads_ = thread_count();
};
INSTANTIATE_TEST_SUITE_P(Threads, Packed, testing::Values(1, 3));

TEST_P(Packed, FullTilesAndTails) {
  for (const of_dtype dtype : kDtypes) {
    const ContractKernels& kernels = contract_kernels(dtype);
    const int64_t half = kernels.rows / 2;
    for (const int64_t i : {int64_t{1}, half - 1, half, half + 1, 2 * half, 2 * half + 1, 7 * half + 3})
      for (const int64_t j : {int64_t{1}, int64_t{2}, kernels.columns, kernels.columns + 1, 3 * kernels.columns - 1})
        for (const int64_t k : {1, 2, 17, 140})
          expect_solved({"ik,kj->ij", {{'i', i}, {'k', k}, {'j', j}}, dtype}, solve_by_packing);
  }
}

TEST_P(Packed, AnyLayout) {
  const std::map<char, int64_t> sizes{{'i', 67}, {'k', 50}, {'j', 41}};
  for (const of_dtype dtype : kDtypes) {
    for (const char* a : {"ik", "ki"}) {
      for (const char* b : {"kj", "jk"}) {
        for (const char* c : {"ij", "ji"}) {
          TestContraction contraction("ik,kj->ij", sizes, dtype);
          expect_solved(contraction.lay_out(kA, {a}).lay_out(kB, {b}).lay_out(kC, {c}), solve_by_packing);
          contraction.lay_out(kA, {a, 3}).lay_out(kB, {b, 6}).lay_out(kC, {c, 9});
          expect_solved(contraction, solve_by_packing);
          contraction.lay_out(kA, {a, 1, -1}).lay_out(kB, {b, 0, 2}).lay_out(kC, {c, 2, 3});
          expect_solved(contraction, solve_by_packing);
        }
      }
    }
  }
}

TEST_P(Packed, SeveralDimensionsPerRole) {
  const std::map<char, int64_t> sizes{{'a', 5}, {'b', 7}, {'c', 6}, {'d', 9}, {'p', 4}, {'q', 11}, {'s', 3}, {'t', 2}};
  for (const of_dtype dtype : kDtypes) {
    for (const char* equation : {"abpq,pqcd->abcd", "aqbp,cpqd->abcd", "pbqa,dqcp->bdac", "qpba,dcqp->cadb"})
      expect_solved({equation, sizes, dtype}, solve_by_packing);
    for (const char* equation : {"stapq,stpqc->stac", "aspqt,tcspq->asct", "pqats,cqtps->stca"})
      expect_solved({equation, sizes, dtype}, solve_by_packing);
  }
}

TEST_P(Packed, Batches) {
  for (const of_dtype dtype : kDtypes) {
    for (const int64_t b : {2, 5, 24}) {
      const std::map<char, int64_t> sizes{{'b', b}, {'i', 40}, {'k', 33}, {'j', 20}};
      expect_solved({"bik,bkj->bij", sizes, dtype}, solve_by_packing);
      expect_solved({"ikb,bkj->ibj", sizes, dtype}, solve_by_packing);
      expect_solved({"ik,bkj->bij", sizes, dtype}, solve_by_packing);
      expect_solved({"bik,kj->bij", sizes, dtype}, solve_by_packing);
      // Columns that are packed: those of each item, or of all items together.
      const std::map<char, int64_t> packed{{'b', b}, {'i', 40}, {'k', 33}, {'c', 4}, {'d', 5}};
      expect_solved({"bik,bckd->bicd", packed, dtype}, solve_by_packing);
      expect_solved({"bik,ckd->ibcd", packed, dtype}, solve_by_packing);
    }
  }
  // Large products: each on all threads.
  expect_solved({"bik,bkj->bij", {{'b', 2}, {'i', 300}, {'k', 90}, {'j', 200}}}, solve_by_packing);
  expect_solved({"bik,kj->bij", {{'b', 4}, {'i', 300}, {'k', 50}, {'j', 200}}}, solve_by_packing);
}

TEST_P(Packed, SeveralBlocksOfTheDepth) {
  for (const of_dtype dtype : kDtypes) {
    const int64_t depth = panel_depth(dtype);
    for (const int64_t k : {depth, depth + 1, 3 * depth - 5}) {
      for (const char* equation : {"ik,kj->ij", "ki,jk->ij", "ki,kj->ji"})
        expect_solved({equation, {{'i', 45}, {'k', k}, {'j', 31}}, dtype}, solve_by_packing);
    }
  }
}

// A long depth and a small C: the parts of the depth are summed separately, and added up.
TEST_P(Packed, SplitDepth) {
  for (const of_dtype dtype : kDtypes) {
    const int64_t depth = panel_depth(dtype);
    for (const int64_t k : {8 * depth, 17 * depth + 1})
      expect_solved({"ik,kj->ij", {{'i', 21}, {'k', k}, {'j', 26}}, dtype}, solve_by_packing);
    expect_solved({"bik,jbk->bji", {{'b', 3}, {'i', 20}, {'k', 8 * depth + 7}, {'j', 15}}, dtype}, solve_by_packing);
  }
}

TEST_P(Packed, DepthInRectangles) {
  for (const of_dtype dtype : kDtypes) {
    for (const char* equation : {"ipq,jqp->ij", "ipq,jqp->ji", "iqp,jpq->ij"}) {
      expect_solved({equation, {{'i', 60}, {'p', 24}, {'q', 70}, {'j', 33}}, dtype}, solve_by_packing);
      expect_solved({equation, {{'i', 33}, {'p', 100}, {'q', 9}, {'j', 60}}, dtype}, solve_by_packing);
    }
  }
}

TEST_P(Packed, SeveralBlocksOfRowsAndColumns) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64, OF_FLOAT16, OF_INT32}) {
    for (const auto& [i, j, k] : {std::tuple{1100, 60, 40},
                                  {60, 1100, 40},
                                  {1030, 1020, 6},
                                  {4100, 20, 30},
                                  {20, 4100, 30},
                                  {1700, 9, 150},
                                  {100, 2700, 12}}) {
      const std::map<char, int64_t> sizes{{'i', i}, {'k', k}, {'j', j}};
      expect_solved({"ik,kj->ij", sizes, dtype}, solve_by_packing);
      expect_solved({"ki,jk->ji", sizes, dtype}, solve_by_packing);
    }
  }
}

// Columns whose stride is a multiple of 4,096 bytes would map to the same cache sets: they are packed.
TEST_P(Packed, ColumnsThatAreNotReadInPlace) {
  for (const of_dtype dtype : kDtypes) {
    const std::map<char, int64_t> sizes{{'i', 40}, {'k', 30}, {'j', 29}};
    const int64_t padding = 4096 / item_size(dtype) - 30;
    expect_solved(TestContraction("ik,jk->ij", sizes, dtype).lay_out(kB, {"jk", padding}), solve_by_packing);
    expect_solved({"ik,kab->iab", {{'i', 40}, {'k', 30}, {'a', 7}, {'b', 5}}, dtype}, solve_by_packing);
    expect_solved({"ik,akb->iab", {{'i', 40}, {'k', 30}, {'a', 7}, {'b', 5}}, dtype}, solve_by_packing);
  }
}

TEST_P(Packed, TransposedSides) {
  const auto solve = [](Problem problem) {
    problem.rows_are_transposed = order_for_transposing(problem.rows, kA, problem.depth);
    problem.columns_are_transposed = order_for_transposing(problem.columns, kB, problem.depth);
    EXPECT_TRUE(problem.rows_are_transposed || problem.columns_are_transposed);
    return solve_by_packing(problem);
  };
  for (const of_dtype dtype : {OF_FLOAT32, OF_INT64}) {
    const std::map<char, int64_t> sizes{{'a', 100}, {'b', 70}, {'k', 150}, {'n', 2}};
    expect_solved({"kba,kn->abn", sizes, dtype}, solve);
    expect_solved({"kba,kn->nab", sizes, dtype}, solve);
    expect_solved({"nk,kba->nab", sizes, dtype}, solve);
    expect_solved({"nk,kba->abn", sizes, dtype}, solve);
    expect_solved({"kba,nk->abn", {{'a', 30}, {'b', 200}, {'k', 180}, {'n', 9}}, dtype}, solve);
  }
}

TEST_P(Packed, ScalesAddsToCAndAddsABias) {
  for (const of_dtype dtype : kDtypes) {
    for (const char* c : {"ij", "ji"}) {
      TestContraction contraction("ik,kj->ij", {{'i', 70}, {'k', 40}, {'j', 33}}, dtype);
      contraction.lay_out(kC, {c});
      expect_solved(contraction.scale(2, 0), solve_by_packing);
      expect_solved(contraction.scale(1, 1), solve_by_packing);
      expect_solved(contraction.scale(-1, 3), solve_by_packing);
      expect_solved(contraction.scale(1, 0).add_bias(), solve_by_packing);
      expect_solved(contraction.scale(2, -1), solve_by_packing);
    }
    TestContraction blocks("ik,kj->ij", {{'i', 600}, {'k', 9}, {'j', 530}}, dtype);
    expect_solved(blocks.scale(1, 2).add_bias(), solve_by_packing);
    TestContraction parts("ik,kj->ij", {{'i', 17}, {'k', 9 * panel_depth(dtype)}, {'j', 20}}, dtype);
    expect_solved(parts.scale(1, 2).add_bias(), solve_by_packing);
  }
}

TEST_P(Packed, AnEmptyDepthGivesZerosAndTheRest) {
  for (const of_dtype dtype : kDtypes) {
    TestContraction contraction("bik,bkj->bij", {{'b', 2}, {'i', 20}, {'k', 0}, {'j', 15}}, dtype);
    expect_solved(contraction, solve_by_packing);
    expect_solved(contraction.scale(1, 2).add_bias(), solve_by_packing);
  }
}

// C is stored with non-temporal stores, at aligned addresses and others.
TEST_P(Packed, ResultsLargerThanTheCaches) {
  const int64_t columns = 600, rows = non_temporal_tile_bytes() / 4 / columns + 1;
  expect_solved({"ki,kj->ji", {{'i', rows}, {'k', 2}, {'j', columns}}}, solve_by_packing);
  TestContraction unaligned("ki,kj->ji", {{'i', rows}, {'k', 2}, {'j', columns}});
  expect_solved(unaligned.lay_out(kC, {"ji", 5}), solve_by_packing);
}

TEST_P(Packed, SumsOfBoolsAreTrueIfAnyProductIs) {
  for (const int64_t k : {1, 3, 300})
    expect_solved({"ik,kj->ij", {{'i', 30}, {'k', k}, {'j', 20}}, OF_BOOL}, solve_by_packing);
}

TEST_P(Packed, NarrowAndUnsignedIntegers) {
  const std::map<char, int64_t> sizes{{'i', 33}, {'k', 20}, {'j', 20}};
  for (const of_dtype dtype : {OF_INT8, OF_UINT8, OF_INT16, OF_UINT16, OF_UINT32, OF_UINT64})
    expect_solved({"ik,kj->ij", sizes, dtype}, solve_by_packing);
}

// Where the processor has a fast instruction for them, pairs of bfloat16 are multiplied: odd depths and tails matter.
TEST_P(Packed, PairsOfBfloat16) {
  if (contract_kernels(OF_BFLOAT16).depths_per_element == 1) GTEST_SKIP() << "without pairs on this processor";
  for (const int64_t k : {1, 2, 3, 31, 32, 33, 1023, 1025, 2500})
    for (const char* a : {"ik", "ki"})
      for (const char* b : {"kj", "jk"})
        expect_solved(TestContraction("ik,kj->ij", {{'i', 75}, {'k', k}, {'j', 30}}, OF_BFLOAT16)
                          .lay_out(kA, {a})
                          .lay_out(kB, {b, 1}),
                      solve_by_packing);
}

}  // namespace
}  // namespace oneflow::cpu
