// Elementwise kernels over operands that lie in several orders, or along short dimensions, so that no tile has a piece
// of the memory of each: those in another order than most are copied first, box by box.
#ifndef ONEFLOW_DEVICES_CPU_ELEMENTWISE_BOXES_H_
#define ONEFLOW_DEVICES_CPU_ELEMENTWISE_BOXES_H_

#include <optional>

#include "emitted.h"

namespace oneflow::cpu {

// Computes the result box by box, in `failed` whether an integer was divided by zero; nothing where all lies in one
// order.
std::optional<of_status> run_in_boxes(const ElementwiseKernel& kernel, const of_kernel_context& context, bool& failed);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ELEMENTWISE_BOXES_H_
