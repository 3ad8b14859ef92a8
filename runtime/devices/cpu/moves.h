// Moving elements into another order, one table per instruction set and size of an element.
#ifndef ONEFLOW_DEVICES_CPU_MOVES_H_
#define ONEFLOW_DEVICES_CPU_MOVES_H_

#include <cstdint>

namespace oneflow::cpu {

// Where elements along one direction are: a step apart, or each at an offset of its own.
struct Steps {
  int64_t step;
  const int64_t* offsets = nullptr;

  int64_t at(int64_t i) const { return offsets != nullptr ? offsets[i] : i * step; }
  bool are_neighbours() const { return offsets == nullptr && step == 1; }
};

// Fewer rows or lanes are moved one by one rather than as part of a square.
constexpr int64_t kLeastTurned = 5;

struct Moves {
  // Copies rows of lanes between two layouts: to[row * to_row + lane * to_lane] = from[row * from_row + lane *
  // from_lane].
  void (*copy)(const void* from, int64_t from_row, int64_t from_lane, void* to, int64_t to_row, int64_t to_lane,
               int64_t rows, int64_t lanes);
  // Writes each of `count` elements, `step` elements apart, `times` times in a row.
  void (*repeat)(const void* from, int64_t step, void* to, int64_t count, int64_t times);
  // Transposes: to[row_steps.at(row) + lane] = from[row + lane_steps.at(lane)].
  void (*turn)(const void* from, const Steps& lane_steps, void* to, const Steps& row_steps, int64_t rows,
               int64_t lanes);
  // Rows of lanes between any two layouts.
  void (*move)(const void* from, const Steps& from_row, const Steps& from_lane, void* to, const Steps& to_row,
               const Steps& to_lane, int64_t rows, int64_t lanes);
};

// The table for elements of 1, 2, 4, 8 or 16 bytes on this machine.
const Moves& moves_of(int64_t item_size);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_MOVES_H_
