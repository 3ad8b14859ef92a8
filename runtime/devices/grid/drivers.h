// The drivers of a backend, as a table for libraries of operators, whose kernels they run.
#ifndef ONEFLOW_DEVICES_GRID_DRIVERS_H_
#define ONEFLOW_DEVICES_GRID_DRIVERS_H_

#include "entries.h"

namespace oneflow::grid {

struct Drivers {
  of_status (*elementwise)(const Elementwise& entry, const ElementwiseKernels& kernels,
                           const of_kernel_context& context);
  of_status (*gather)(const Gather& entry, const GatherKernels& kernels, const of_kernel_context& context);
  of_status (*generator)(const Generator& entry, const GeneratorKernels& kernels, const of_kernel_context& context);
  of_status (*reduction)(const Reduction& entry, const ReductionKernels& kernels, const of_kernel_context& context);
  of_status (*scan)(const Scan& entry, const ScanKernels& kernels, const of_kernel_context& context);
  of_status (*copy)(int input, const of_kernel_context& context);
};

// The name by which a library asks find_kernel() for the table: it is the user pointer of what that finds.
constexpr const char* kDriversName = "drivers of grid kernels";

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_DRIVERS_H_
