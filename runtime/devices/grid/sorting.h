// Sorting of lines of keys, which sort, topk, randperm and index_put_ share.
#ifndef ONEFLOW_DEVICES_GRID_SORTING_H_
#define ONEFLOW_DEVICES_GRID_SORTING_H_

#include "driver.h"

namespace oneflow::grid {

// Consecutive lines of keys, and the buffers to sort them in: two for the keys, and two for their original positions in
// the line. Buffer `current` holds the keys and, after sorting, the sorted keys and their positions.
class Sorting {
 public:
  // The length of the longest line: positions have 32 bits.
  static constexpr int64_t kLongest = INT32_MAX;

  Sorting(const of_kernel_context& context, int64_t lines, int64_t length, int64_t kept, int key_bits);
  of_status allocate();

  uint64_t* keys(int buffer) const { return static_cast<uint64_t*>(keys_[buffer].data()); }
  uint32_t* positions(int buffer) const { return static_cast<uint32_t*>(positions_[buffer].data()); }
  const uint64_t* keys() const { return keys(current); }
  const uint32_t* positions() const { return positions(current); }

  const int64_t lines, length;
  const int64_t kept;  // how many keys from the beginning of each sorted line are needed
  const int key_bits;  // the number of low bits in which keys may differ
  int current = 0;

 private:
  Scratch keys_[2], positions_[2];
};

// Sorts each line of keys in ascending order, stably, and sets the positions. A backend defines it, by merge_sort() or
// by a library.
of_status sort_lines(const of_kernel_context& context, Sorting& sorting);
of_status merge_sort(const of_kernel_context& context, Sorting& sorting);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_SORTING_H_
