// The loops of simd/permute.h; compiled once per instruction set.
#include <cstddef>

#include "simd/permute.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// An element of 16 bytes.
struct Pair {
  uint64_t first, second;
};

// Whether shuffles are implemented for elements of this size.
template <class Unit>
constexpr bool is_in_vectors = sizeof(Unit) == 4 || sizeof(Unit) == 8;

// Copies as many of `count` elements as whole vectors hold, and returns their number.
template <class Unit, int from_step, int to_step>
int64_t copy_vectors(const Unit* from, Unit* to, int64_t count) {
  constexpr int lanes = kLanes<Unit>;
  Indices<Unit> even, low, high;
  for (int lane = 0; lane < lanes; ++lane) {
    even[lane] = 2 * lane;
    low[lane] = lane / 2;
    high[lane] = lane / 2 + lanes / 2;
  }
  int64_t i = 0;
  // With from_step == 2, the last vector would read past the end of the source.
  for (; i + lanes < count + (from_step == 1); i += lanes) {
    Vector<Unit> values = load(from + i * from_step);
    if constexpr (from_step == 2) values = __builtin_shuffle(values, load(from + i * 2 + lanes), even);
    if constexpr (to_step == 1) {
      store(to + i, values);
    } else {
      constexpr uint32_t kEven = 0x5555;
      store_masked(kEven, to + i * 2, __builtin_shuffle(values, low));
      store_masked(kEven, to + i * 2 + lanes, __builtin_shuffle(values, high));
    }
  }
  return i;
}

template <class Unit>
void copy_contiguous(const Unit* from, Unit* to, int64_t count) {
  constexpr int64_t kMany = 256 / sizeof(Unit);
  int64_t i = 0;
  if constexpr (is_in_vectors<Unit> && kHasMasks) {
    if (count <= kMany) {
      constexpr int lanes = kLanes<Unit>;
      for (; i + lanes <= count; i += lanes) store(to + i, load(from + i));
      if (i < count) store_some(to + i, load_some(from + i, count - i), 0, count - i);
      return;
    }
  }
  if (count > 0) __builtin_memcpy(to, from, static_cast<size_t>(count) * sizeof(Unit));
}

// Copies the elements at and before an address, last one first.
template <class Unit>
void copy_reversed(const Unit* from, Unit* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = from[-i];
}

template <class Unit>
void copy(const void* source, int64_t from_row, int64_t from_column, void* destination, int64_t to_row,
          int64_t to_column, int64_t rows, int64_t columns) {
  const Unit* from = static_cast<const Unit*>(source);
  Unit* to = static_cast<Unit*>(destination);
  const auto each_row = [&](auto&& copy_some) {
    for (int64_t row = 0; row < rows; ++row, from += from_row, to += to_row)
#pragma GCC unroll 8
      for (int64_t column = copy_some(); column < columns; ++column)
        to[column * to_column] = from[column * from_column];
  };
  if (from_column == 1 && to_column == 1) return each_row([&] { return copy_contiguous(from, to, columns), columns; });
  if (to_column == -1)  // starts at the other end
    return copy<Unit>(from + (columns - 1) * from_column, from_row, -from_column, to - (columns - 1), to_row, 1, rows,
                      columns);
  if (from_column == -1 && to_column == 1) return each_row([&] { return copy_reversed(from, to, columns), columns; });
  if constexpr (is_in_vectors<Unit>) {
    if (from_column == 2 && to_column == 1)
      return each_row([&] { return copy_vectors<Unit, 2, 1>(from, to, columns); });
    if constexpr (kHasMasks) {
      if (from_column == 1 && to_column == 2)
        return each_row([&] { return copy_vectors<Unit, 1, 2>(from, to, columns); });
      if (from_column == 2 && to_column == 2)
        return each_row([&] { return copy_vectors<Unit, 2, 2>(from, to, columns); });
    }
  }
  each_row([] { return int64_t{0}; });
}

template <class Unit>
void repeat_singly(const Unit* from, int64_t step, Unit* to, int64_t count, int64_t times) {
  for (int64_t i = 0; i < count; ++i, from += step)
    for (int64_t k = 0; k < times; ++k) *to++ = *from;
}

// Repeats each element at least as many times as a vector has lanes: the last vector of each element overlaps the one
// before it.
template <class Unit, int bytes>
void repeat_often(const Unit* from, int64_t step, Unit* to, int64_t count, int64_t times) {
  typedef Unit Wide __attribute__((vector_size(bytes), aligned(alignof(Unit)), may_alias));
  constexpr int64_t lanes = bytes / sizeof(Unit);
  for (int64_t i = 0; i < count; ++i, from += step, to += times) {
    const Wide value = *from - Wide{};
    for (int64_t k = 0; k < times - lanes; k += lanes) *reinterpret_cast<Wide*>(to + k) = value;
    *reinterpret_cast<Wide*>(to + times - lanes) = value;
  }
}

// Repeats contiguous elements fewer times than a vector has lanes: shuffles expand each vector into `times` vectors.
template <class Unit, int times>
void repeat_vectors(const Unit* from, Unit* to, int64_t count) {
  constexpr int lanes = kLanes<Unit>;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes, from += lanes, to += lanes * times) {
    const Vector<Unit> values = load(from);
#pragma GCC unroll 16
    for (int part = 0; part < times; ++part) {
      Indices<Unit> lane_of;
#pragma GCC unroll 16
      for (int lane = 0; lane < lanes; ++lane) lane_of[lane] = (part * lanes + lane) / times;
      store(to + part * lanes, __builtin_shuffle(values, lane_of));
    }
  }
  repeat_singly(from, 1, to, count - i, times);
}

template <class Unit, int times>
void repeat_few(const Unit* from, Unit* to, int64_t count, int64_t wanted) {
  if constexpr (times < kLanes<Unit>) {
    if (wanted == times) return repeat_vectors<Unit, times>(from, to, count);
    return repeat_few<Unit, times + 1>(from, to, count, wanted);
  }
}

template <class Unit>
void repeat(const void* source, int64_t step, void* destination, int64_t count, int64_t times) {
  const Unit* from = static_cast<const Unit*>(source);
  Unit* to = static_cast<Unit*>(destination);
  const int64_t bytes = times * static_cast<int64_t>(sizeof(Unit));
  if constexpr (sizeof(Unit) <= 8) {
    if (bytes >= kVectorBytes) return repeat_often<Unit, kVectorBytes>(from, step, to, count, times);
    if constexpr (is_in_vectors<Unit>) {
      if (step == 1 && times > 1) return repeat_few<Unit, 2>(from, to, count, times);
    }
    if (bytes >= 16) return repeat_often<Unit, 16>(from, step, to, count, times);
  }
  repeat_singly(from, step, to, count, times);
}

// Calls visit(at), where at(i) equals steps.at(i). Loops in `visit` need not test whether there is a table of offsets.
template <class Visit>
void visit_steps(const Steps& steps, Visit&& visit) {
  if (steps.offsets != nullptr)
    visit([offsets = steps.offsets](int64_t i) { return offsets[i]; });
  else
    visit([step = steps.step](int64_t i) { return i * step; });
}

template <class Unit>
void permute(const void* source, const Steps& from_row, const Steps& from_column, void* destination,
             const Steps& to_row, const Steps& to_column, int64_t rows, int64_t columns) {
  if (rows > columns)
    return permute<Unit>(source, from_column, from_row, destination, to_column, to_row, columns, rows);
  const bool are_even = from_column.offsets == nullptr && to_column.offsets == nullptr;
  for (int64_t row = 0; row < rows; ++row) {
    const Unit* from = static_cast<const Unit*>(source) + from_row.at(row);
    Unit* to = static_cast<Unit*>(destination) + to_row.at(row);
    if (are_even) {
      copy<Unit>(from, 0, from_column.step, to, 0, to_column.step, 1, columns);
      continue;
    }
    visit_steps(from_column, [&](auto from_at) {
      visit_steps(to_column, [&](auto to_at) {
#pragma GCC unroll 4
        for (int64_t column = 0; column < columns; ++column) to[to_at(column)] = from[from_at(column)];
      });
    });
  }
}

// Transposes a square, with as many rows and columns as a vector has lanes, in registers. `column_at` and `row_at` give
// the offsets of columns in the source and of rows in the destination. Not inlined, because compilers would then keep
// the addresses in memory.
template <class Unit, class ColumnAt, class RowAt>
__attribute__((noinline)) void transpose_square(const Unit* from, ColumnAt column_at, Unit* to, RowAt row_at,
                                                int64_t row, int64_t column) {
  constexpr int width = kLanes<Unit>;
  Vector<Unit> square[width];
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) square[i] = load(from + row + column_at(column + i));
  transpose<Unit>(square);
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) store(to + row_at(row + i) + column, square[i]);
}
// Transposes the first `rows` rows and `columns` columns of a square.
template <class Unit, class ColumnAt, class RowAt>
__attribute__((noinline)) void transpose_part(const Unit* from, ColumnAt column_at, Unit* to, RowAt row_at, int64_t row,
                                              int64_t column, int64_t rows, int64_t columns) {
  constexpr int width = kLanes<Unit>;
  Vector<Unit> square[width];
  for (int i = 0; i < width; ++i)
    square[i] = i < columns ? load_some(from + row + column_at(column + i), rows) : Vector<Unit>{};
  transpose<Unit>(square);
  for (int i = 0; i < rows; ++i) store_some(to + row_at(row + i) + column, square[i], 0, columns);
}
template <class Unit, class ColumnAt, class RowAt>
void transpose_squares(const Unit* from, ColumnAt column_at, Unit* to, RowAt row_at, int64_t rows, int64_t columns) {
  constexpr int width = kLanes<Unit>;
  const auto most = [](int64_t count) { return count < width ? count : width; };
  for (int64_t row = 0; row < rows; row += width) {
    for (int64_t column = 0; column < columns; column += width) {
      if (row + width <= rows && column + width <= columns)
        transpose_square(from, column_at, to, row_at, row, column);
      else
        transpose_part(from, column_at, to, row_at, row, column, most(rows - row), most(columns - column));
    }
  }
}

// Returns the steps of the elements from index `first` on, relative to `address`, which advances if they are a stride.
template <class Unit>
Steps steps_from(const Steps& steps, int64_t first, Unit*& address) {
  if (steps.offsets != nullptr) return {steps.step, steps.offsets + first};
  address += steps.at(first);
  return steps;
}

template <class Unit>
void transpose_rows(const void* source, const Steps& column_steps, void* destination, const Steps& row_steps,
                    int64_t rows, int64_t columns) {
  const Unit* from = static_cast<const Unit*>(source);
  Unit* to = static_cast<Unit*>(destination);
  const auto copy_singly = [&](int64_t first_row, int64_t row_count, int64_t first_column, int64_t column_count) {
    if (row_count == 0 || column_count == 0) return;
    const Unit* from_first = from + first_row;
    Unit* to_first = to + first_column;
    const Steps from_columns = steps_from(column_steps, first_column, from_first),
                to_rows = steps_from(row_steps, first_row, to_first);
    permute<Unit>(from_first, {1}, from_columns, to_first, to_rows, {1}, row_count, column_count);
  };
  int64_t square_rows = 0;
  if constexpr (is_in_vectors<Unit>) {
    constexpr int width = kLanes<Unit>;
    constexpr int64_t least = kHasMasks ? kMinTransposed : width;
    const auto in_squares = [](int64_t count) { return count % width < least ? count / width * width : count; };
    square_rows = in_squares(rows);
    const int64_t square_columns = in_squares(columns);
    visit_steps(column_steps, [&](auto column_at) {
      visit_steps(row_steps,
                  [&](auto row_at) { transpose_squares(from, column_at, to, row_at, square_rows, square_columns); });
    });
    copy_singly(0, square_rows, square_columns, columns - square_columns);
  }
  copy_singly(square_rows, rows - square_rows, 0, columns);
}

template <class Unit>
constexpr PermuteLoops kLoops = {copy<Unit>, repeat<Unit>, transpose_rows<Unit>, permute<Unit>};

}  // namespace

const PermuteLoops& find_permute_loops(int64_t item_size) {
  switch (item_size) {
    case 1:
      return kLoops<uint8_t>;
    case 2:
      return kLoops<uint16_t>;
    case 4:
      return kLoops<uint32_t>;
    case 8:
      return kLoops<uint64_t>;
    default:
      return kLoops<Pair>;
  }
}

}  // namespace oneflow::cpu::OF_ISA
