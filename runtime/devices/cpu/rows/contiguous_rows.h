// Tensors as rows of contiguous elements.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_CONTIGUOUS_ROWS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_CONTIGUOUS_ROWS_H_

#include <algorithm>

#include "rows/plain.h"
#include "threads/partition.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {

// The rows of contiguous tensors of one shape.
struct Rows {
  int64_t count = 0, length = 0;
  explicit operator bool() const { return count > 0; }
};

// Returns the rows that the last dimensions of the tensors form: those that `dims` names. Returns none if `dims` names
// others, or a tensor is not contiguous or not of the compute type.
inline Rows rows_of(const of_kernel_context& context, Tensors tensors, uint64_t dims, int named) {
  const of_kernel_tensor& first = **tensors.begin();
  const int32_t kept = first.rank - named;
  if (kept < 0 || dims >> kept != (uint64_t{1} << named) - 1 || (dims & ((uint64_t{1} << kept) - 1)) != 0) return {};
  if (!are_plain(context, tensors)) return {};
  Rows rows{1, 1};
  for (int32_t d = 0; d < first.rank; ++d) (d < kept ? rows.count : rows.length) *= first.sizes[d];
  return rows;
}

// Calls run(first) with the position of the first element of each row.
template <class Run>
void for_each_row(const Rows& rows, Run run) {
  constexpr int64_t kTaskElements = 16 * 1024;
  const int64_t group = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, rows.length));
  parallel_for(divide_up(rows.count, group), [&](int64_t task) {
    for (int64_t row = task * group; row < std::min(rows.count, (task + 1) * group); ++row) run(row * rows.length);
  });
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_CONTIGUOUS_ROWS_H_
