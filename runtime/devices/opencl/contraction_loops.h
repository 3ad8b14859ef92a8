// The kernels of programs/contraction_loops.h, by the dtype of the tensors.
#ifndef ONEFLOW_DEVICES_OPENCL_CONTRACTION_LOOPS_H_
#define ONEFLOW_DEVICES_OPENCL_CONTRACTION_LOOPS_H_

#include "../grid/contraction.h"

namespace oneflow::opencl {

const grid::ByDtype& contraction_pack_rows();
const grid::ByDtype& contraction_pack_columns();
const grid::ByDtype& contraction_panels();
const grid::ByDtype& contraction_lines();

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_CONTRACTION_LOOPS_H_
