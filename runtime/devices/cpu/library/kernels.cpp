// Compiled into each library of operators: the lookup of its kernels for the CPU. They are run by the drivers of this
// backend, for which the library asks the device's table.
#include <atomic>

#include "generated/tables.h"  // of the library
#include "plugin/drivers.h"
#include "plugin/emitted_tables.h"

namespace oneflow::cpu {

namespace {

// The function that runs the kernels of a type. All devices have the same one.
template <class Kernel>
std::atomic<of_kernel> driver = nullptr;

template <class Kernel>
bool find_driver(const of_device_table& table, of_device device) {
  of_kernel_entry entry{sizeof(entry), nullptr, nullptr};
  if (table.find_kernel(device, driver_name<Kernel>, 0, OF_DTYPE_NONE, &entry) != OF_OK) return false;
  driver<Kernel>.store(entry.function, std::memory_order_relaxed);
  return true;
}

template <class... Kernels>
bool find_drivers(const of_device_table& table, of_device device) {
  return (... && find_driver<Kernels>(table, device));
}

}  // namespace

template <class Kernel>
of_status run(const of_kernel_context* context) {
  return driver<Kernel>.load(std::memory_order_relaxed)(context);
}
template of_status run<ElementwiseKernel>(const of_kernel_context*);
template of_status run<CopyKernel>(const of_kernel_context*);
template of_status run<GeneratorKernel>(const of_kernel_context*);
template of_status run<ReductionKernel>(const of_kernel_context*);
template of_status run<ScanKernel>(const of_kernel_context*);
template of_status run<GatherKernel>(const of_kernel_context*);

namespace {

const Emitted emitted;  // made when the library is loaded: no thread forks meanwhile

}  // namespace

// A KernelFinder of dispatch/loaded_operators.h.
of_status find_library_kernel(const of_device_table& table, of_device device, const char* name, uint64_t kernel_id,
                              of_dtype compute, of_kernel_entry* entry) noexcept {
  const KernelEntry* found = emitted.find(name, compute);
  if (!found || found->kernel_id != kernel_id) return OF_UNSUPPORTED;
  if (!find_drivers<ElementwiseKernel, CopyKernel, GeneratorKernel, ReductionKernel, ScanKernel, GatherKernel>(table,
                                                                                                               device))
    return OF_UNSUPPORTED;
  entry->function = found->run;
  entry->user = const_cast<void*>(found->kernel);
  return OF_OK;
}

}  // namespace oneflow::cpu
