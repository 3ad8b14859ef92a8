// The names by which libraries of operators ask find_kernel() for the functions that run their kernels.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_DRIVERS_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_DRIVERS_H_

#include "plugin/emitted.h"

namespace oneflow::cpu {

// The name of run<Kernel>.
template <class Kernel>
constexpr const char* driver_name = nullptr;
template <>
inline constexpr const char* driver_name<ElementwiseKernel> = "driver of elementwise kernels";
template <>
inline constexpr const char* driver_name<CopyKernel> = "driver of copies";
template <>
inline constexpr const char* driver_name<GeneratorKernel> = "driver of generators";
template <>
inline constexpr const char* driver_name<ReductionKernel> = "driver of reductions";
template <>
inline constexpr const char* driver_name<ScanKernel> = "driver of scans";
template <>
inline constexpr const char* driver_name<GatherKernel> = "driver of gathers";

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_DRIVERS_H_
