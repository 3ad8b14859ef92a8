// The loops that move elements; compiled once per instruction set.
#include "moves.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

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
  using Index = typename LaneIndex<Unit>::type;
  typedef Index Indices __attribute__((vector_size(kVectorBytes)));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes, from += lanes, to += lanes * times) {
    const Vector<Unit> values = load(from);
#pragma GCC unroll 16
    for (int part = 0; part < times; ++part) {
      Indices lane_of;
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
  if (bytes >= kVectorBytes) return repeat_often<Unit, kVectorBytes>(from, step, to, count, times);
  if constexpr (sizeof(Unit) >= 4) {
    if (step == 1 && times > 1) return repeat_few<Unit, 2>(from, to, count, times);
  }
  if (bytes >= 16) return repeat_often<Unit, 16>(from, step, to, count, times);
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
  if constexpr (sizeof(Unit) >= 4) {
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
constexpr Moves kMoves = {repeat<Unit>, turn<Unit>};

}  // namespace

const Moves& find_moves(int64_t item_size) {
  switch (item_size) {
    case 1:
      return kMoves<uint8_t>;
    case 2:
      return kMoves<uint16_t>;
    case 4:
      return kMoves<uint32_t>;
    default:
      return kMoves<uint64_t>;
  }
}

}  // namespace oneflow::cpu::OF_ISA
