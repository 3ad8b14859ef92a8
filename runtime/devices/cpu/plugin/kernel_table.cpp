#include "plugin/kernel_table.h"

#include <array>
#include <span>
#include <string_view>

#include "generated/tables.h"
#include "native/native.h"
#include "plugin/drivers.h"
#include "plugin/emitted_tables.h"
#include "rows/pooling.h"
#include "rows/rows.h"

namespace oneflow::cpu {

template <class Kernel>
of_status run(const of_kernel_context* context) {
  try {
    return run_kernel(*static_cast<const Kernel*>(context->user), *context);
  } catch (...) {
    return fail_with_exception();
  }
}
template of_status run<ElementwiseKernel>(const of_kernel_context*);
template of_status run<CopyKernel>(const of_kernel_context*);
template of_status run<GeneratorKernel>(const of_kernel_context*);
template of_status run<ReductionKernel>(const of_kernel_context*);
template of_status run<ScanKernel>(const of_kernel_context*);
template of_status run<GatherKernel>(const of_kernel_context*);

namespace {

struct NativeId {
  std::string_view name;
  uint64_t kernel_id;
};
#define OF_KERNEL_ID(name, id) {name, id},
constexpr NativeId kNativeIds[] = {OF_NATIVE(OF_KERNEL_ID)};
#undef OF_KERNEL_ID

constexpr bool is_generated(std::string_view name) {
  for (const NativeId& record : kNativeIds)
    if (record.name == name) return true;
  return false;
}

template <of_status (*kernel)(const of_kernel_context& context)>
of_status call_native(const of_kernel_context* context) {
  try {
    return kernel(*context);
  } catch (...) {
    return fail_with_exception();
  }
}

// A hand-written kernel. It is null if the definitions that this library was generated from lack the operator: then the
// linker leaves it out.
struct NativeKernel {
  consteval NativeKernel(std::string_view op, of_kernel function)
      : name(op), kernel(is_generated(op) ? function : nullptr) {}

  std::string_view name;
  of_kernel kernel;
};
constexpr NativeKernel kNativeKernels[] = {
    {"index", call_native<index>},     {"index_put_", call_native<index_put>},
    {"nonzero", call_native<nonzero>}, {"randperm", call_native<randperm>},
    {"sort", call_native<sort>},       {"topk", call_native<topk>},
};
// Kernels of composites that are faster as a whole. They have a table of their own, because no device must have them:
// docs/devices.md lists kNativeKernels, and which of those a device lacks.
constexpr NativeKernel kCompositeKernels[] = {
    {"softmax", call_native<softmax>},
    {"softmax.gradient_input", call_native<softmax_gradient>},
    {"log_softmax", call_native<log_softmax>},
    {"log_softmax.gradient_input", call_native<log_softmax_gradient>},
    {"standardize", call_native<standardize>},
    {"standardize.gradient_input_weight_bias", call_native<standardize_gradient>},
    {"avg_pool", call_native<avg_pool>},
    {"max_pool", call_native<max_pool>},
    {"max_pool.gradient_input", call_native<max_pool_gradient>},
};

// The functions that run the kernels of libraries of operators, under the names by which those ask for them.
struct Driver {
  std::string_view name;
  of_kernel run;
};
template <class... Kernels>
constexpr std::array<Driver, sizeof...(Kernels)> drivers() {
  return {Driver{driver_name<Kernels>, run<Kernels>}...};
}
constexpr auto kDrivers =
    drivers<ElementwiseKernel, CopyKernel, GeneratorKernel, ReductionKernel, ScanKernel, GatherKernel>();

}  // namespace

of_status find_kernel(of_device, const char* name, uint64_t kernel_id, of_dtype compute, of_kernel_entry* entry) {
  static const Emitted emitted;
  if (const KernelEntry* found = emitted.find(name, compute)) {
    if (found->kernel_id != kernel_id) return OF_UNSUPPORTED;
    entry->function = found->run;
    entry->user = const_cast<void*>(found->kernel);
    return OF_OK;
  }
  for (const NativeId& record : kNativeIds) {
    if (record.name != name || record.kernel_id != kernel_id) continue;
    for (const std::span<const NativeKernel> table :
         {std::span<const NativeKernel>(kNativeKernels), {kCompositeKernels}})
      for (const NativeKernel& native : table)
        if (native.name == name) entry->function = native.kernel;
  }
  for (const Driver& driver : kDrivers)
    if (driver.name == name) entry->function = driver.run;
  return entry->function != nullptr ? OF_OK : OF_UNSUPPORTED;
}

}  // namespace oneflow::cpu
