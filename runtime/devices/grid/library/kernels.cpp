// Compiled into each library of operators: the lookup of its kernels for a grid device. They are run by the drivers of
// the backend, for which the library asks the device's table.
#include <atomic>
#include <string_view>

#include "../drivers.h"
#include "generated/tables.h"  // of the library

namespace oneflow::grid {

#define OF_TABLE(name) extern const Row name##_rows[];
OF_EMITTED(OF_TABLE)
#undef OF_TABLE

namespace {

std::atomic<const Drivers*> drivers = nullptr;

const Drivers& current() { return *drivers.load(std::memory_order_acquire); }

bool find_drivers(const of_device_table& table, of_device device) {
  if (drivers.load(std::memory_order_acquire) != nullptr) return true;
  of_kernel_entry entry{sizeof(entry), nullptr, nullptr};
  if (table.find_kernel(device, kDriversName, 0, OF_DTYPE_NONE, &entry) != OF_OK) return false;
  drivers.store(static_cast<const Drivers*>(entry.user), std::memory_order_release);
  return true;
}

of_kernel find(const Row* row, std::string_view name, uint64_t kernel_id, of_dtype compute) {
  for (; row->name != nullptr; ++row)
    if (row->name == name && row->kernel_id == kernel_id && (row->compute == compute || row->compute == kAny))
      return row->kernel;
  return nullptr;
}

}  // namespace

of_status run(const Elementwise& entry, const ElementwiseKernels& kernels, const of_kernel_context& context) {
  return current().elementwise(entry, kernels, context);
}
of_status run(const Gather& entry, const GatherKernels& kernels, const of_kernel_context& context) {
  return current().gather(entry, kernels, context);
}
of_status run(const Generator& entry, const GeneratorKernels& kernels, const of_kernel_context& context) {
  return current().generator(entry, kernels, context);
}
of_status run(const Reduction& entry, const ReductionKernels& kernels, const of_kernel_context& context) {
  return current().reduction(entry, kernels, context);
}
of_status run(const Scan& entry, const ScanKernels& kernels, const of_kernel_context& context) {
  return current().scan(entry, kernels, context);
}
of_status run_copy(int input, const of_kernel_context& context) { return current().copy(input, context); }

// A KernelFinder of dispatch/loaded_operators.h.
of_status find_library_kernel(const of_device_table& table, of_device device, const char* name, uint64_t kernel_id,
                              of_dtype compute, of_kernel_entry* entry) noexcept {
  of_kernel found = nullptr;
#define OF_FIND(table) \
  if (found == nullptr) found = find(table##_rows, name, kernel_id, compute);
  OF_EMITTED(OF_FIND)
#undef OF_FIND
  if (found == nullptr || !find_drivers(table, device)) return OF_UNSUPPORTED;
  entry->function = found;
  return OF_OK;
}

}  // namespace oneflow::grid
