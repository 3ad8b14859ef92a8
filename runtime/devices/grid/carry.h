// The kernels that convert elements from one dtype to another. They implement no operator of their own, but are
// generated together with the kernels of operators.
#ifndef ONEFLOW_DEVICES_GRID_CARRY_H_
#define ONEFLOW_DEVICES_GRID_CARRY_H_

#include "entries.h"

namespace oneflow::grid {

extern const Elementwise carry;
// Returns the kernels that convert through values of `type`: float32, float64, int32, int64 or uint64.
const ElementwiseKernels& carry_kernels(of_dtype type);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_CARRY_H_
