#include "plugin/kernel_table.h"

#include <span>
#include <string_view>
#include <unordered_map>

#include "generated/tables.h"
#include "native/native.h"
#include "plugin/emitted.h"
#include "rows/pooling.h"
#include "rows/rows.h"
#include "simd/isa.h"

namespace oneflow::cpu {

#define OF_TABLE(name) extern const KernelEntry name##_kernels[];
namespace baseline {
OF_EMITTED(OF_TABLE)
}
#if defined(OF_X86_VARIANTS)
namespace avx2 {
OF_EMITTED(OF_TABLE)
}
namespace avx512 {
OF_EMITTED(OF_TABLE)
}
#endif
#undef OF_TABLE

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

// The generated tables for this machine's instruction set, indexed by kernel name. The entries of one name, one per
// compute type, are adjacent in their table.
class Emitted {
 public:
  Emitted() {
#define OF_ADD(name) add(OF_PREFIX::name##_kernels);
#if defined(OF_X86_VARIANTS)
    if (best_isa() == Isa::avx512) {
#define OF_PREFIX avx512
      OF_EMITTED(OF_ADD)
#undef OF_PREFIX
      return;
    }
    if (best_isa() == Isa::avx2) {
#define OF_PREFIX avx2
      OF_EMITTED(OF_ADD)
#undef OF_PREFIX
      return;
    }
#endif
#define OF_PREFIX baseline
    OF_EMITTED(OF_ADD)
#undef OF_PREFIX
#undef OF_ADD
  }

  const KernelEntry* find(std::string_view name, of_dtype compute) const {
    const auto first = first_entries_.find(name);
    if (first == first_entries_.end()) return nullptr;
    for (const KernelEntry* entry = first->second; entry->name != nullptr && entry->name == name; ++entry) {
      if (entry->compute == compute || entry->compute == OF_DTYPE_NONE) return entry;
    }
    return nullptr;
  }

 private:
  void add(const KernelEntry* table) {
    for (; table->name != nullptr; ++table) first_entries_.emplace(table->name, table);
  }

  std::unordered_map<std::string_view, const KernelEntry*> first_entries_;
};

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
  return entry->function != nullptr ? OF_OK : OF_UNSUPPORTED;
}

}  // namespace oneflow::cpu
