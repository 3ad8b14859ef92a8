// Plans of reductions of which the lanes are a block of several dimensions.
#ifndef ONEFLOW_DEVICES_CPU_FOLD_BLOCK_H_
#define ONEFLOW_DEVICES_CPU_FOLD_BLOCK_H_

#include <optional>

#include "fold_plan.h"
#include "operand.h"

namespace oneflow::cpu {

// States of so many lanes, of a few parts, stay in the first-level cache together with the rows that are folded. Rows
// that are converted, and results, have to fit into a buffer.
constexpr int64_t kKeptLanes = kChunk;

// The size of parts of at most so many elements, as even as whole numbers of `unit` allow.
int64_t even_part(int64_t size, int64_t most, int64_t unit);

// Whether lines of `folded` are interleaved: the kept elements between lie next to each other, and vectors hold whole
// numbers of them.
bool is_interleaved(const of_kernel_tensor& input, int32_t folded, int32_t kept);

// The plan of which the innermost dimensions are the lanes, if none of them alone makes good ones, there are enough
// rows of them, and no gaps in between.
std::optional<FoldPlan> plan_block(const of_kernel_tensor& input, uint32_t reduced);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_FOLD_BLOCK_H_
