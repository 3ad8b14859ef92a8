// The kernels that carry elements from one dtype to another: they belong to no operator, and are generated with the
// others.
#ifndef ONEFLOW_DEVICES_GRID_CARRY_H_
#define ONEFLOW_DEVICES_GRID_CARRY_H_

#include "entries.h"

namespace oneflow::grid {

extern const Elementwise carry;
// Those that carry them as `type`: float32, float64, int32, int64 or uint64.
const ElementwiseKernels& carry_kernels(of_dtype type);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_CARRY_H_
