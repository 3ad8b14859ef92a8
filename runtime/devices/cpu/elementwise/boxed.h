// Elementwise kernels whose operands are stored in several dimension orders, box by box (copy/boxes.h).
//
// Tiles (elementwise/tiled.h) serve two orders; boxes serve any number of them, and dimensions too short for tiles.
// Operands stored in another order than most are first copied to buffers. Example: where(c, a, b) of sizes {64, 64,
// 64}, whose operands have unit strides along three different dimensions: the boxes of two operands are copied into the
// order of the result.
#ifndef ONEFLOW_DEVICES_CPU_ELEMENTWISE_BOXED_H_
#define ONEFLOW_DEVICES_CPU_ELEMENTWISE_BOXED_H_

#include <optional>

#include "plugin/emitted.h"

namespace oneflow::cpu {

// Computes the result box by box, and sets `failed` if an integer was divided by zero. Returns nothing, without
// computing anything, if all operands are stored in the order of the result.
std::optional<of_status> run_in_boxes(const ElementwiseKernel& kernel, const of_kernel_context& context, bool& failed);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ELEMENTWISE_BOXED_H_
