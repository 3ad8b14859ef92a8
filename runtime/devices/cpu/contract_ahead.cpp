#include "contract_ahead.h"

#include <algorithm>
#include <cstdlib>

namespace oneflow::cpu {

Lines::Lines(const DimGroup& x, const DimGroup& y, Operand operand, int64_t item, int64_t slack)
    : memory_((kMost + slack) * static_cast<int64_t>(sizeof(int64_t))) {
  auto* to = static_cast<int64_t*>(memory_.data());
  const int64_t elements = x.count * y.count;
  if (to == nullptr || elements == 0 || elements * item > kMost * kLine) return;
  DimGroup outer = x;
  for (int d = 0; d < y.rank; ++d) outer.add(y.dims[d]);
  std::sort(outer.dims, outer.dims + outer.rank, [&](const Dim& one, const Dim& other) {
    return std::abs(one.strides[operand]) > std::abs(other.strides[operand]);
  });
  Dim inner{1, {0, 0, 0, 0}};
  if (outer.rank > 0) inner = outer.dims[--outer.rank];
  const int64_t reach = (inner.size - 1) * inner.strides[operand] * item;
  const int64_t run_lines = (std::abs(reach) + item) / kLine + 1;
  const int64_t runs = elements / inner.size;
  if (runs * run_lines > kMost) return;
  // The runs' offsets go to the end of the memory. Their lines, written from its beginning on, reach none that was not
  // read before.
  int64_t* starts = to + kMost - runs;
  fill_offsets(outer, operand, 0, runs, starts);
  for (int64_t i = 0; i < runs; ++i) {
    const int64_t begin = starts[i] * item + std::min<int64_t>(0, reach);
    for (int64_t line = 0; line < run_lines; ++line) to[count_++] = begin + line * kLine;
  }
  std::fill_n(to + count_, slack, to[count_ - 1]);
}

}  // namespace oneflow::cpu
