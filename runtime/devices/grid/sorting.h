// Sorting lines of keys: what sort, topk, randperm and index_put_ are made of.
#ifndef ONEFLOW_DEVICES_GRID_SORTING_H_
#define ONEFLOW_DEVICES_GRID_SORTING_H_

#include "driver.h"

namespace oneflow::grid {

// Lines of keys, one behind the other, and room to sort them in: two buffers each, of which `current` holds the keys
// and, when they are sorted, also the result.
class Sorting {
 public:
  // The longest line: positions have 32 bits.
  static constexpr int64_t kLongest = INT32_MAX;

  Sorting(const of_kernel_context& context, int64_t lines, int64_t length, int64_t kept, int key_bits);
  of_status allocate();

  uint64_t* keys(int buffer) const { return static_cast<uint64_t*>(keys_[buffer].data()); }
  uint32_t* positions(int buffer) const { return static_cast<uint32_t*>(positions_[buffer].data()); }
  const uint64_t* keys() const { return keys(current); }
  const uint32_t* positions() const { return positions(current); }

  const int64_t lines, length;
  const int64_t kept;  // how many of each line are wanted, from its beginning
  const int key_bits;  // those above are the same in all keys
  int current = 0;

 private:
  Scratch keys_[2], positions_[2];
};

// Brings each line of keys into ascending order, equal ones as they came, and notes where in the line each came from.
// A backend defines it: as merge_sort, or by a library of its own.
of_status sort_lines(const of_kernel_context& context, Sorting& sorting);
of_status merge_sort(const of_kernel_context& context, Sorting& sorting);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_SORTING_H_
