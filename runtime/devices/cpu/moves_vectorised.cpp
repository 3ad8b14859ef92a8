// The loops that move elements; compiled once per instruction set.
#include <cstddef>

#include "moves.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// Elements of 16 bytes, two words each.
struct Pair {
  uint64_t first, second;
};

template <class Unit>
constexpr bool is_in_vectors = sizeof(Unit) == 4 || sizeof(Unit) == 8;  // what shuffles are written for

// As many elements as whole vectors hold; how many.
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
  // Of every second element, the last vector would reach behind the end.
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
void copy_neighbours(const Unit* from, Unit* to, int64_t count) {
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

template <class Unit>
void copy(const void* source, int64_t from_row, int64_t from_lane, void* destination, int64_t to_row, int64_t to_lane,
          int64_t rows, int64_t lanes) {
  const Unit* from = static_cast<const Unit*>(source);
  Unit* to = static_cast<Unit*>(destination);
  const auto each_row = [&](auto&& copy_some) {
    for (int64_t row = 0; row < rows; ++row, from += from_row, to += to_row)
#pragma GCC unroll 8
      for (int64_t lane = copy_some(); lane < lanes; ++lane) to[lane * to_lane] = from[lane * from_lane];
  };
  if (from_lane == 1 && to_lane == 1) return each_row([&] { return copy_neighbours(from, to, lanes), lanes; });
  if constexpr (is_in_vectors<Unit>) {
    if (from_lane == 2 && to_lane == 1) return each_row([&] { return copy_vectors<Unit, 2, 1>(from, to, lanes); });
    if constexpr (kHasMasks) {
      if (from_lane == 1 && to_lane == 2) return each_row([&] { return copy_vectors<Unit, 1, 2>(from, to, lanes); });
      if (from_lane == 2 && to_lane == 2) return each_row([&] { return copy_vectors<Unit, 2, 2>(from, to, lanes); });
    }
  }
  each_row([] { return int64_t{0}; });
}

template <class Unit>
void repeat_singly(const Unit* from, int64_t step, Unit* to, int64_t count, int64_t times) {
  for (int64_t i = 0; i < count; ++i, from += step)
    for (int64_t k = 0; k < times; ++k) *to++ = *from;
}

// At least as many times as a vector has lanes: the last one of each element overlaps the one before it.
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

// Fewer times than a vector has lanes: one vector of neighbours becomes several.
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

template <class Unit>
void turn_singly(const Unit* from, int64_t from_step, Unit* to, int64_t to_step, int64_t rows, int64_t lanes) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t lane = 0; lane < lanes; ++lane) to[row * to_step + lane] = from[row + lane * from_step];
}

// Squares are transposed in registers, and what does not fill one element by element.
template <class Unit>
void turn(const void* source, int64_t from_step, void* destination, int64_t to_step, int64_t rows, int64_t lanes) {
  const Unit* from = static_cast<const Unit*>(source);
  Unit* to = static_cast<Unit*>(destination);
  if constexpr (is_in_vectors<Unit>) {
    constexpr int width = kLanes<Unit>;
    const int64_t whole_rows = rows / width * width, whole_lanes = lanes / width * width;
    for (int64_t row = 0; row < whole_rows; row += width) {
      for (int64_t lane = 0; lane < whole_lanes; lane += width) {
        Vector<Unit> square[width];
#pragma GCC unroll 16
        for (int i = 0; i < width; ++i) square[i] = load(from + row + (lane + i) * from_step);
        transpose<Unit>(square);
#pragma GCC unroll 16
        for (int i = 0; i < width; ++i) store(to + (row + i) * to_step + lane, square[i]);
      }
    }
    turn_singly(from + whole_lanes * from_step, from_step, to + whole_lanes, to_step, whole_rows, lanes - whole_lanes);
    from += whole_rows;
    to += whole_rows * to_step;
    rows -= whole_rows;
  }
  turn_singly(from, from_step, to, to_step, rows, lanes);
}

template <class Unit>
constexpr Moves kMoves = {copy<Unit>, repeat<Unit>, turn<Unit>};

}  // namespace

const Moves& find_moves(int64_t item_size) {
  switch (item_size) {
    case 1:
      return kMoves<uint8_t>;
    case 2:
      return kMoves<uint16_t>;
    case 4:
      return kMoves<uint32_t>;
    case 8:
      return kMoves<uint64_t>;
    default:
      return kMoves<Pair>;
  }
}

}  // namespace oneflow::cpu::OF_ISA
