// Iteration over the elements of a group of dimensions in blocks of offsets, for kernels that read operands in place.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_OFFSET_BLOCKS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_OFFSET_BLOCKS_H_

#include <algorithm>

#include "contract/problem.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {

// The most offsets of one block.
constexpr int64_t kOffsetBlock = 256;

// Calls kernel(count, offsets) for all elements of a group in blocks, in parallel where there is enough work:
// offsets[operand] has the offsets of `count` elements in A, B or C. `work` is the number of multiplications per
// element.
template <class Kernel>
void for_each_offset_block(const DimGroup& group, int64_t work, Kernel&& kernel) {
  const int64_t block = std::clamp<int64_t>(kTaskWork / std::max<int64_t>(1, work), 1, kOffsetBlock);
  parallel_for(divide_up(group.count, block), [&](int64_t task) {
    const int64_t first = task * block, count = std::min(block, group.count - first);
    int64_t offsets[3][kOffsetBlock];
    for (const Operand operand : {kA, kB, kC}) fill_offsets(group, operand, first, count, offsets[operand]);
    kernel(count, offsets);
  });
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_OFFSET_BLOCKS_H_
