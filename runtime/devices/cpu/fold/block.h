// Plans of reductions whose columns are a block: all elements, kept and folded ones, of several innermost dimensions.
// Example: for the sum of a contiguous [256, 1000, 12] tensor over dim 1, rows of 12 kept elements would be too short
// for vectors; the block has 42 x 12 columns per row.
#ifndef ONEFLOW_DEVICES_CPU_FOLD_BLOCK_H_
#define ONEFLOW_DEVICES_CPU_FOLD_BLOCK_H_

#include <optional>

#include "copy/operand.h"
#include "fold/plan.h"

namespace oneflow::cpu {

// The maximum number of columns of a state, so that a state of a few parts stays in the first-level cache with the rows
// that are folded into it. Rows that are converted, and results, must fit into a buffer.
constexpr int64_t kMaxColumns = kChunk;

// Returns the size of parts when `size` elements are split as evenly as possible into parts of at most `most` elements.
// If it splits them, the size is rounded up to a multiple of `unit`.
int64_t even_part(int64_t size, int64_t most, int64_t unit);

// Returns whether the lines along the dimension `folded` are interleaved element by element: their number, the size of
// the dimension `kept`, is small and a power of two, so that vectors hold a multiple of them.
bool is_interleaved(const of_kernel_tensor& input, int32_t folded, int32_t kept);

// Returns the plan whose columns are a block of the innermost dimensions; or nothing if one of these dimensions alone
// makes good columns, if there are too few rows, or if the innermost dimensions are not contiguous.
std::optional<FoldPlan> plan_block(const of_kernel_tensor& input, uint32_t reduced);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_FOLD_BLOCK_H_
