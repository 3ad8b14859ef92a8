#include "contract_ahead.h"

#include <algorithm>
#include <cstdlib>

namespace oneflow::cpu {

Lines::Lines(const Side& side, const Range& block, const DimGroup& depth, int64_t item, int64_t slack)
    : memory_((kMost + slack) * static_cast<int64_t>(sizeof(int64_t))) {
  if (block.count * depth.count * item > kMost * kLine) return;
  const Operand operand = side.operand();
  DimGroup outer = depth;
  int64_t inner = 1;  // depths that lie next to each other
  if (outer.rank > 0 && outer.dims[outer.rank - 1].strides[operand] == 1) {
    inner = outer.dims[--outer.rank].size;
    outer.count /= inner;
  }
  const Scratch work(kMost * static_cast<int64_t>(sizeof(Range)) + outer.count * static_cast<int64_t>(sizeof(int64_t)));
  auto* to = static_cast<int64_t*>(memory_.data());
  auto* runs = static_cast<Range*>(work.data());
  if (to == nullptr || runs == nullptr) return;
  const int64_t run_count = side.find_runs(block, kMost, runs);
  int64_t lines = 0;
  for (int64_t i = 0; i < run_count; ++i) lines += (runs[i].count + inner - 1) * item / kLine + 1;
  if (run_count == 0 || lines > kMost / outer.count) return;
  auto* depths = reinterpret_cast<int64_t*>(runs + kMost);
  fill_offsets(outer, operand, 0, outer.count, depths);
  for (int64_t p = 0; p < outer.count; ++p) {
    for (const Range* run = runs; run < runs + run_count; ++run) {
      const int64_t begin = (run->begin + depths[p]) * item, end = begin + (run->count + inner - 1) * item;
      for (int64_t at = begin; at < end; at += kLine) to[count_++] = at;
    }
  }
  std::fill_n(to + count_, slack, to[count_ - 1]);
}

}  // namespace oneflow::cpu
