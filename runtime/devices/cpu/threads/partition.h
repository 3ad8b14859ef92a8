// Arithmetic for splitting a count of elements into blocks, parts and tasks. Example: part(10, i, 3) gives the ranges
// [0, 3), [3, 6) and [6, 10).
#ifndef ONEFLOW_DEVICES_CPU_THREADS_PARTITION_H_
#define ONEFLOW_DEVICES_CPU_THREADS_PARTITION_H_

#include <cstdint>

namespace oneflow::cpu {

// The elements [begin, begin + count).
struct Range {
  int64_t begin, count;
};

// Returns part `i` when `size` elements are split into `parts` parts that differ by at most one element.
inline Range part(int64_t size, int64_t i, int64_t parts) {
  const int64_t begin = size * i / parts;
  return {begin, size * (i + 1) / parts - begin};
}

// Returns how many blocks of `size` elements cover `count` elements.
inline int64_t divide_up(int64_t count, int64_t size) { return (count + size - 1) / size; }

// Returns the smallest multiple of `unit` that is not below `count`.
inline int64_t round_up(int64_t count, int64_t unit) { return divide_up(count, unit) * unit; }

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_THREADS_PARTITION_H_
