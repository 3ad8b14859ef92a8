// Elementwise kernels over operands that lie across each other.
#ifndef ONEFLOW_DEVICES_CPU_ELEMENTWISE_TILES_H_
#define ONEFLOW_DEVICES_CPU_ELEMENTWISE_TILES_H_

#include "emitted.h"
#include "tiling.h"

namespace oneflow::cpu {

// How to walk the operands and the result of a kernel by tiles; nothing where their rows serve as well.
std::optional<Tiling> find_tiling(const ElementwiseKernel& kernel, const of_kernel_context& context);

// Computes the result tile by tile. Whether an integer was divided by zero.
bool run_tiles(const ElementwiseKernel& kernel, const of_kernel_context& context, const Tiling& tiling);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ELEMENTWISE_TILES_H_
