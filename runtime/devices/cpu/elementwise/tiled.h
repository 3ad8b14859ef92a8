// Elementwise kernels whose operands have unit strides along different dimensions, tile by tile (copy/tiling.h).
//
// Example: a + b.T of two contiguous matrices: in each tile, rows of `a` are used in place, and the part of `b` is
// transposed into a buffer.
#ifndef ONEFLOW_DEVICES_CPU_ELEMENTWISE_TILED_H_
#define ONEFLOW_DEVICES_CPU_ELEMENTWISE_TILED_H_

#include "copy/tiling.h"
#include "plugin/emitted.h"

namespace oneflow::cpu {

// Returns the tiles of a kernel's operands and result, or nothing if tiles would not be faster than rows or boxes.
std::optional<Tiling> find_tiling(const ElementwiseKernel& kernel, const of_kernel_context& context);

// Computes the result tile by tile. Returns whether an integer was divided by zero.
bool run_tiles(const ElementwiseKernel& kernel, const of_kernel_context& context, const Tiling& tiling);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ELEMENTWISE_TILED_H_
