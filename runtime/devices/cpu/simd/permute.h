// Loops that copy elements between memory layouts: strided copies, repetition, transposition and general permutation.
// There is one table of them per instruction set and element size. They view memory as rows and columns; for example,
// transposing a contiguous 2 x 3 matrix a into b is
//   permute_loops(4).transpose(a, {3}, b, {2}, 3, 2);  // b[row * 2 + column] =
//   a[row + column * 3]
#ifndef ONEFLOW_DEVICES_CPU_SIMD_PERMUTE_H_
#define ONEFLOW_DEVICES_CPU_SIMD_PERMUTE_H_

#include <cstdint>

namespace oneflow::cpu {

// The offsets of consecutive elements along one direction, in elements: multiples of a stride, or a table.
struct Steps {
  int64_t step;
  const int64_t* offsets = nullptr;

  int64_t at(int64_t i) const { return offsets != nullptr ? offsets[i] : i * step; }
  bool are_contiguous() const { return offsets == nullptr && step == 1; }
};

// Rows or columns left over by whole squares are copied one by one if they are fewer than this, rather than transposed
// as part of a square.
constexpr int64_t kMinTransposed = 5;

// The loops for one element size.
struct PermuteLoops {
  // Copies between two strided layouts: to[row * to_row + column * to_column] = from[row * from_row + column *
  // from_column].
  void (*copy)(const void* from, int64_t from_row, int64_t from_column, void* to, int64_t to_row, int64_t to_column,
               int64_t rows, int64_t columns);
  // Writes each of `count` elements, which are `step` elements apart, `times` times: a b becomes a a a b b b.
  void (*repeat)(const void* from, int64_t step, void* to, int64_t count, int64_t times);
  // Transposes a matrix with contiguous columns into one with contiguous rows: to[row_steps.at(row) + column] =
  // from[row + column_steps.at(column)].
  void (*transpose)(const void* from, const Steps& column_steps, void* to, const Steps& row_steps, int64_t rows,
                    int64_t columns);
  // Copies between any two layouts: to[to_row.at(row) + to_column.at(column)] = from[from_row.at(row) +
  // from_column.at(column)].
  void (*permute)(const void* from, const Steps& from_row, const Steps& from_column, void* to, const Steps& to_row,
                  const Steps& to_column, int64_t rows, int64_t columns);
};

// Returns the loops for elements of 1, 2, 4, 8 or 16 bytes, for this machine's instruction set.
const PermuteLoops& permute_loops(int64_t item_size);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SIMD_PERMUTE_H_
