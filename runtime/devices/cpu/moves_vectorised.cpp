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

// Calls visit(at), where at(i) is what steps.at(i) is, which is then decided outside of loops.
template <class Visit>
void visit_steps(const Steps& steps, Visit&& visit) {
  if (steps.offsets != nullptr)
    visit([offsets = steps.offsets](int64_t i) { return offsets[i]; });
  else
    visit([step = steps.step](int64_t i) { return i * step; });
}

template <class Unit>
void move(const void* source, const Steps& from_row, const Steps& from_lane, void* destination, const Steps& to_row,
          const Steps& to_lane, int64_t rows, int64_t lanes) {
  if (rows > lanes) return move<Unit>(source, from_lane, from_row, destination, to_lane, to_row, lanes, rows);
  const bool are_even = from_lane.offsets == nullptr && to_lane.offsets == nullptr;
  for (int64_t row = 0; row < rows; ++row) {
    const Unit* from = static_cast<const Unit*>(source) + from_row.at(row);
    Unit* to = static_cast<Unit*>(destination) + to_row.at(row);
    if (are_even) {
      copy<Unit>(from, 0, from_lane.step, to, 0, to_lane.step, 1, lanes);
      continue;
    }
    visit_steps(from_lane, [&](auto from_at) {
      visit_steps(to_lane, [&](auto to_at) {
#pragma GCC unroll 4
        for (int64_t lane = 0; lane < lanes; ++lane) to[to_at(lane)] = from[from_at(lane)];
      });
    });
  }
}

// A square is transposed in registers: whole, or as many rows and lanes of it as there are. `lane_at` and `row_at` say
// where lanes are read and rows are written. Not inline: compilers would keep its addresses up to date in memory.
template <class Unit, class LaneAt, class RowAt>
__attribute__((noinline)) void turn_square(const Unit* from, LaneAt lane_at, Unit* to, RowAt row_at, int64_t row,
                                           int64_t lane) {
  constexpr int width = kLanes<Unit>;
  Vector<Unit> square[width];
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) square[i] = load(from + row + lane_at(lane + i));
  transpose<Unit>(square);
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) store(to + row_at(row + i) + lane, square[i]);
}
template <class Unit, class LaneAt, class RowAt>
__attribute__((noinline)) void turn_part(const Unit* from, LaneAt lane_at, Unit* to, RowAt row_at, int64_t row,
                                         int64_t lane, int64_t rows, int64_t lanes) {
  constexpr int width = kLanes<Unit>;
  Vector<Unit> square[width];
  for (int i = 0; i < width; ++i)
    square[i] = i < lanes ? load_some(from + row + lane_at(lane + i), rows) : Vector<Unit>{};
  transpose<Unit>(square);
  for (int i = 0; i < rows; ++i) store_some(to + row_at(row + i) + lane, square[i], 0, lanes);
}
template <class Unit, class LaneAt, class RowAt>
void turn_squares(const Unit* from, LaneAt lane_at, Unit* to, RowAt row_at, int64_t rows, int64_t lanes) {
  constexpr int width = kLanes<Unit>;
  const auto most = [](int64_t count) { return count < width ? count : width; };
  for (int64_t row = 0; row < rows; row += width) {
    for (int64_t lane = 0; lane < lanes; lane += width) {
      if (row + width <= rows && lane + width <= lanes)
        turn_square(from, lane_at, to, row_at, row, lane);
      else
        turn_part(from, lane_at, to, row_at, row, lane, most(rows - row), most(lanes - lane));
    }
  }
}

// The steps from the first one on, of what lies at an address.
template <class Unit>
Steps steps_from(const Steps& steps, int64_t first, Unit*& address) {
  if (steps.offsets != nullptr) return {steps.step, steps.offsets + first};
  address += steps.at(first);
  return steps;
}

template <class Unit>
void turn(const void* source, const Steps& lane_steps, void* destination, const Steps& row_steps, int64_t rows,
          int64_t lanes) {
  const Unit* from = static_cast<const Unit*>(source);
  Unit* to = static_cast<Unit*>(destination);
  const auto turn_singly = [&](int64_t first_row, int64_t row_count, int64_t first_lane, int64_t lane_count) {
    if (row_count == 0 || lane_count == 0) return;
    const Unit* from_first = from + first_row;
    Unit* to_first = to + first_lane;
    const Steps from_lanes = steps_from(lane_steps, first_lane, from_first),
                to_rows = steps_from(row_steps, first_row, to_first);
    move<Unit>(from_first, {1}, from_lanes, to_first, to_rows, {1}, row_count, lane_count);
  };
  int64_t turned_rows = 0;
  if constexpr (is_in_vectors<Unit>) {
    constexpr int width = kLanes<Unit>;
    constexpr int64_t least = kHasMasks ? kLeastTurned : width;
    const auto turned = [](int64_t count) { return count % width < least ? count / width * width : count; };
    turned_rows = turned(rows);
    const int64_t turned_lanes = turned(lanes);
    visit_steps(lane_steps, [&](auto lane_at) {
      visit_steps(row_steps, [&](auto row_at) { turn_squares(from, lane_at, to, row_at, turned_rows, turned_lanes); });
    });
    turn_singly(0, turned_rows, turned_lanes, lanes - turned_lanes);
  }
  turn_singly(turned_rows, rows - turned_rows, 0, lanes);
}

template <class Unit>
constexpr Moves kMoves = {copy<Unit>, repeat<Unit>, turn<Unit>, move<Unit>};

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
