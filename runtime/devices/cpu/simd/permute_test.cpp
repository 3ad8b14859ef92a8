#include "simd/permute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace oneflow::cpu {
namespace {

constexpr int64_t kSizes[] = {1, 2, 4, 8};
constexpr unsigned char kUntouched = 0xA5;

// Returns `count` elements whose bytes are numbered 1, 2, ... modulo 256.
std::vector<unsigned char> numbered(int64_t count, int64_t item_size) {
  std::vector<unsigned char> bytes(static_cast<size_t>(count * item_size));
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
  return bytes;
}

TEST(PermuteLoops, CopyWritesStridedElementsAndNothingElse) {
  for (const int64_t size : kSizes) {
    for (const int64_t count : {0, 1, 2, 8, 15, 16, 17, 33, 64}) {
      for (const int64_t from_step : {0, 1, 2, 3}) {
        for (const int64_t to_step : {1, 2, 3}) {
          const auto from = numbered(count == 0 ? 0 : (count - 1) * from_step + 1, size);
          std::vector<unsigned char> to(static_cast<size_t>((count * to_step + 64) * size), kUntouched), expected = to;
          for (int64_t i = 0; i < count; ++i)
            std::memcpy(expected.data() + i * to_step * size, from.data() + i * from_step * size,
                        static_cast<size_t>(size));
          permute_loops(size).copy(from.data(), 0, from_step, to.data(), 0, to_step, 1, count);
          ASSERT_EQ(to, expected) << size << " bytes, " << count << " elements from " << from_step << " to " << to_step
                                  << " apart";
        }
      }
    }
  }
}

TEST(PermuteLoops, CopyFollowsNegativeSteps) {
  for (const int64_t size : kSizes) {
    for (const int64_t count : {0, 1, 2, 15, 16, 17, 33, 130}) {
      for (const int64_t from_step : {-2, -1, 1, 2}) {
        for (const int64_t to_step : {-2, -1, 1, 2}) {
          const int64_t rows = 3, row = 2 * count + 5, last = std::max<int64_t>(count - 1, 0);
          const auto from = numbered(rows * row, size);
          std::vector<unsigned char> to(static_cast<size_t>(rows * row * size), kUntouched), expected = to;
          const int64_t from_first = from_step < 0 ? -last * from_step : 0,
                        to_first = to_step < 0 ? -last * to_step : 0;
          for (int64_t i = 0; i < rows * count; ++i)
            std::memcpy(expected.data() + (i / count * row + to_first + i % count * to_step) * size,
                        from.data() + (i / count * row + from_first + i % count * from_step) * size,
                        static_cast<size_t>(size));
          permute_loops(size).copy(from.data() + from_first * size, row, from_step, to.data() + to_first * size, row,
                                   to_step, rows, count);
          ASSERT_EQ(to, expected) << size << " bytes, " << count << " elements from " << from_step << " to " << to_step
                                  << " apart";
        }
      }
    }
  }
}

TEST(PermuteLoops, CopyCopiesEachRow) {
  for (const int64_t size : kSizes) {
    const int64_t rows = 5, columns = 19, from_row = 41, to_row = 40;
    const auto from = numbered(rows * from_row, size);
    std::vector<unsigned char> to(static_cast<size_t>(rows * to_row * size), kUntouched), expected = to;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        std::memcpy(expected.data() + (row * to_row + column * 2) * size,
                    from.data() + (row * from_row + column) * size, static_cast<size_t>(size));
    permute_loops(size).copy(from.data(), from_row, 1, to.data(), to_row, 2, rows, columns);
    EXPECT_EQ(to, expected) << size << " bytes";
  }
}

TEST(PermuteLoops, RepeatWritesEachElementTheGivenNumberOfTimesAndNothingElse) {
  for (const int64_t size : kSizes) {
    for (int64_t times = 1; times <= 70; ++times) {
      for (const int64_t count : {0, 1, 3, 16, 37}) {
        for (const int64_t step : {0, 1, 3}) {
          const auto from = numbered(count * 3 + 1, size);
          std::vector<unsigned char> expected, to(static_cast<size_t>((count * times + 64) * size), kUntouched);
          for (int64_t i = 0; i < count * times; ++i) {
            const auto element = from.begin() + i / times * step * size;
            expected.insert(expected.end(), element, element + size);
          }
          expected.resize(to.size(), kUntouched);
          permute_loops(size).repeat(from.data(), step, to.data(), count, times);
          ASSERT_EQ(to, expected) << size << " bytes, " << count << " elements " << step << " apart, " << times
                                  << " times";
        }
      }
    }
  }
}

// Returns `count` distinct offsets, unsorted, some of them adjacent.
std::vector<int64_t> offsets_of(int64_t count, int64_t step) {
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i) offsets.push_back((i * 7 % count) * step + i % 2);
  return offsets;
}

TEST(PermuteLoops, TransposeAndPermuteWriteTheTransposedMatrixAndNothingElse) {
  for (const int64_t size : kSizes) {
    for (const int64_t rows : {0, 1, 3, 4, 5, 15, 16, 33}) {
      for (const int64_t columns : {0, 1, 2, 7, 16, 23, 40}) {
        const int64_t from_step = rows + 3, to_step = columns + 2;
        const std::vector<int64_t> from_offsets = offsets_of(columns, from_step),
                                   to_offsets = offsets_of(rows, to_step);
        const auto from = numbered((columns + 1) * from_step, size);
        const auto untouched = std::vector<unsigned char>(static_cast<size_t>((rows + 1) * to_step * size), kUntouched);
        const Steps each_column[] = {{from_step}, {0, from_offsets.data()}},
                    each_row[] = {{to_step}, {0, to_offsets.data()}};
        for (const Steps& column_steps : each_column) {
          for (const Steps& row_steps : each_row) {
            std::vector<unsigned char> expected = untouched, transposed = untouched, permuted = untouched;
            for (int64_t row = 0; row < rows; ++row)
              for (int64_t column = 0; column < columns; ++column)
                std::memcpy(expected.data() + (row_steps.at(row) + column) * size,
                            from.data() + (row + column_steps.at(column)) * size, static_cast<size_t>(size));
            permute_loops(size).transpose(from.data(), column_steps, transposed.data(), row_steps, rows, columns);
            ASSERT_EQ(transposed, expected) << size << " bytes, " << rows << " x " << columns;
            permute_loops(size).permute(from.data(), {1}, column_steps, permuted.data(), row_steps, {1}, rows, columns);
            ASSERT_EQ(permuted, expected) << size << " bytes, " << rows << " x " << columns;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace oneflow::cpu
